import { describe, expect, test } from 'vitest'
import type { WriteFailure } from '../../collection/base-store.ts'
import {
  IdempotencyKeyReused,
  IdsExhausted,
  Refusal,
  RowChanged,
  RowConflict,
  RuleViolation,
  StoreUnavailable,
  writeFailureOf,
} from '../../collection/errors.ts'
import { retryWhileBusy } from '../../sqlite/file/connection.ts'
import { concernsDatabase, FilesDamaged, isBusy, storeError, toFailure } from '../../sqlite/file/failure.ts'

function sqliteError(code: string, message = 'of SQLite'): Error {
  return Object.assign(new Error(message), { code })
}

describe('a failure', () => {
  test.for<[unknown, string, string]>([
    [sqliteError('SQLITE_FULL', 'database or disk is full'), 'SQLITE_FULL', 'database or disk is full'],
    [Object.assign(new TypeError('wrong'), { code: 5 }), 'TypeError', 'wrong'],
    ['a text', 'UNKNOWN', 'a text'],
    [undefined, 'UNKNOWN', 'undefined'],
  ])('of %o has only a code and a message', ([thrown, code, message]) => {
    expect(toFailure(thrown)).toEqual({ code, message })
  })

  test('of a rule also has its subject', () => {
    expect(toFailure(new IdsExhausted('none', 'notes'))).toEqual({
      code: 'IdsExhausted',
      message: 'none',
      rule: 'notes',
    })
  })

  test.for([
    ['SQLITE_BUSY', true, true],
    ['SQLITE_BUSY_SNAPSHOT', true, true],
    ['SQLITE_FULL', true, false],
    ['SQLITE_LOCKED', true, false],
    ['SQLITE_CONSTRAINT_CHECK', false, false],
    ['TypeError', false, false],
    ['ENOENT', true, false],
    ['EACCES', true, false],
    ['ERR_INVALID_ARG_TYPE', false, false],
    ['EvalError', false, false],
    ['NOT_SQLITE_BUSY', false, false],
  ] as const)('%s: affects the whole database: %s, busy: %s', ([code, concerns, busy]) => {
    expect([concernsDatabase({ code, message: '' }), isBusy({ code, message: '' })]).toEqual([concerns, busy])
  })

  test.for([
    ['SQLITE_BUSY', true, 'another process holds its lock; stop that process, or try again when it has ended'],
    ['SQLITE_IOERR_FSYNC', true, 'why; check the disk, its quota, and the permissions of the file and its folder'],
    ['SQLITE_IOERR_CORRUPTFS', true, 'the disk cannot read it; check the disk'],
    ['SQLITE_FULL', true, 'the disk is full; free some space'],
    ['SQLITE_READONLY', true, 'why; check that its file system and its files can be written'],
    ['SQLITE_CANTOPEN', true, 'why; check the permissions of the file and its folder, and the limit of open files'],
    ['SQLITE_TOOBIG', true, 'why; look up SQLITE_TOOBIG on sqlite.org'],
    ['EACCES', true, 'why; check the path and its permissions'],
    ['EMFILE', true, 'no file descriptor is left; raise the limit (ulimit -n, or LimitNOFILE of systemd)'],
    ['SQLITE_CORRUPT', true, 'it is corrupt, or the disk cannot read it; check the disk, or restore an intact backup'],
    ['SQLITE_CORRUPT_INDEX', false, 'it is corrupt; restore an intact backup'],
    ['SQLITE_NOTADB', false, 'it is corrupt; restore an intact backup'],
  ] as const)('%s makes the store unavailable, retryable: %s, and says %s', ([code, isRetryable, reason]) => {
    const error = storeError({ code, message: 'why' })
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: `The database cannot be used: ${reason} (${code}).`, isRetryable })
  })

  test('has no name of a system call or path in its message', () => {
    const message = "EACCES: permission denied, open '/secret/notes.db'"
    expect(storeError({ code: 'EACCES', message }).message).toContain(': permission denied; check the path')
  })

  test('keeps a sentence for the operator', () => {
    const failure = toFailure(new FilesDamaged('database lost', 'do this'))
    expect(storeError(failure).message).toBe('The database was deleted, moved or replaced while it was open; do this.')
    expect(writeFailureOf(storeError(failure))).toBe('io')
  })

  test.for<[WriteFailure, string]>([
    ['busy', 'SQLITE_BUSY'],
    ['busy', 'SQLITE_BUSY_SNAPSHOT'],
    ['full', 'SQLITE_FULL'],
    ['full', 'ENOSPC'],
    ['full', 'EDQUOT'],
    ['io', 'SQLITE_IOERR_FSYNC'],
    ['io', 'SQLITE_CANTOPEN'],
    ['io', 'EIO'],
    ['io', 'ENOENT'],
    ['io', 'ENOTDIR'],
    ['io', 'ESTALE'],
    ['read_only', 'SQLITE_READONLY_DIRECTORY'],
    ['read_only', 'EACCES'],
    ['read_only', 'EROFS'],
    ['corrupt', 'SQLITE_CORRUPT_INDEX'],
    ['corrupt', 'SQLITE_NOTADB'],
    ['schema', 'SQLITE_SCHEMA'],
    ['other', 'SQLITE_ERROR'],
    ['other', 'SQLITE_CONSTRAINT_CHECK'],
    ['other', 'TypeError'],
  ])('of a write has the reason %s: %s', ([reason, code]) => {
    expect(writeFailureOf(storeError({ code, message: '' }))).toBe(reason)
    expect(writeFailureOf(storeError({ code, message: '', rule: '' }))).toBe('rule')
  })

  test('of one write becomes the error of the store for it', () => {
    const own = Object.assign(new RuleViolation('x', 'notes'), { name: 'NoSuchNote' })
    const ofStore = [IdempotencyKeyReused, IdsExhausted, RowChanged, RowConflict].map((Rule) => new Rule('x', 'notes'))
    const codes = ['conflict', 'not_found', 'unprocessable'] as const
    const refusals = codes.map((code) => Object.assign(new Refusal('x', code), { name: 'NoteIsDone' }))
    for (const error of [...ofStore, own, ...refusals]) {
      const restored = storeError(toFailure(error))
      expect([restored, restored.constructor]).toEqual([error, error.constructor])
    }
    for (const failure of [
      { code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: api_keys.hash' },
      { code: 'SQLITE_CONSTRAINT_CHECK', message: 'api_keys.name' },
      { code: 'RangeError', message: 'x' },
      { code: 'XSQLITE_CORRUPT', message: 'x' },
    ]) {
      expect(storeError(failure)).toEqual(new Error(`${failure.code}: ${failure.message}`))
    }
  })
})

describe('a step is retried while the database is busy', () => {
  test('until it succeeds', () => {
    let tries = 0
    const act = () => {
      if (++tries < 5) throw sqliteError('SQLITE_BUSY')
      return 'done'
    }
    const start = performance.now()
    expect(retryWhileBusy(1_000, act)).toBe('done')
    expect(tries).toBe(5)
    // The pauses leave the processor to the process that holds the lock.
    expect(performance.now() - start).toBeGreaterThan(3)
  })

  test('until the timeout, and then throws the error of SQLite', () => {
    const start = performance.now()
    const act = () => {
      throw sqliteError('SQLITE_BUSY')
    }
    expect(() => retryWhileBusy(50, act)).toThrow('of SQLite')
    expect(performance.now() - start).toBeGreaterThan(45)
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  test('but not after any other error', () => {
    let tries = 0
    const act = () => {
      tries++
      throw sqliteError('SQLITE_FULL')
    }
    expect(() => retryWhileBusy(1_000, act)).toThrow('of SQLite')
    expect(tries).toBe(1)
  })
})
