import { describe, expect, test } from 'vitest'
import { retryWhileBusy } from '../../db/sqlite/connection.ts'
import { concernsDatabase, isBusy, storeError, toFailure } from '../../db/sqlite/failure.ts'
import { IdempotencyKeyReused, KeyNameTaken, KeyRevoked, StoreUnavailable } from '../../db/store.ts'

function sqliteError(code: string, message = 'of SQLite'): Error {
  return Object.assign(new Error(message), { code })
}

describe('a failure', () => {
  test.for<[unknown, string, string]>([
    [sqliteError('SQLITE_FULL', 'database or disk is full'), 'SQLITE_FULL', 'database or disk is full'],
    [new KeyRevoked('gone'), 'KeyRevoked', 'gone'],
    [Object.assign(new TypeError('wrong'), { code: 5 }), 'TypeError', 'wrong'],
    ['a text', 'UNKNOWN', 'a text'],
    [undefined, 'UNKNOWN', 'undefined'],
  ])('of %o has only a code and a message', ([thrown, code, message]) => {
    expect(toFailure(thrown)).toEqual({ code, message })
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
    ['SQLITE_BUSY', true],
    ['SQLITE_IOERR_FSYNC', true],
    ['EACCES', true],
    ['SQLITE_CORRUPT_INDEX', false],
    ['SQLITE_NOTADB', false],
  ] as const)('%s makes the store unavailable, retryable: %s', ([code, isRetryable]) => {
    const error = storeError({ code, message: 'why' })
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: `${code}: why`, isRetryable })
  })

  test('of one write becomes the error of the store for it', () => {
    const unique = 'SQLITE_CONSTRAINT_UNIQUE'
    expect(storeError({ code: unique, message: 'UNIQUE constraint failed: api_keys.name' })).toBeInstanceOf(
      KeyNameTaken,
    )
    expect(storeError({ code: 'IdempotencyKeyReused', message: 'x' })).toEqual(new IdempotencyKeyReused('x'))
    expect(storeError({ code: 'KeyRevoked', message: 'x' })).toEqual(new KeyRevoked('x'))
    for (const failure of [
      { code: unique, message: 'UNIQUE constraint failed: api_keys.hash' },
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
    expect(performance.now() - start).toBeLessThan(1_000)
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
