import { openSync } from 'node:fs'
import { foreignKey, sqliteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, test } from 'vitest'
import { books, notes } from '../../../test/notes/tables.ts'
import type { WriteFailure } from '../../collection/base-store.ts'
import {
  IdempotencyKeyReused,
  IdsExhausted,
  OtherRelease,
  Refusal,
  RowChanged,
  RowConflict,
  RuleViolation,
  StoreUnavailable,
  writeFailureOf,
} from '../../collection/errors.ts'
import { int64 } from '../../collection/schema.ts'
import { retryWhileBusy } from '../../sqlite/file/connection.ts'
import {
  concernsDatabase,
  conflictOf,
  type Failure,
  FilesDamaged,
  isBusy,
  storeError,
  toFailure,
} from '../../sqlite/file/failure.ts'

function sqliteError(code: string, message = 'of SQLite'): Error {
  return Object.assign(new Error(message), { code })
}

describe('a failure', () => {
  test.for<[unknown, string, string]>([
    [sqliteError('SQLITE_FULL', 'database or disk is full'), 'SQLITE_FULL', 'database or disk is full'],
    [Object.assign(new Error('wrong'), { code: 'EMPTY' }), 'EMPTY', 'wrong'],
    [Object.assign(new TypeError('wrong'), { code: 5 }), 'TypeError', 'wrong'],
    ['a text', 'UNKNOWN', 'a text'],
    [undefined, 'UNKNOWN', 'undefined'],
  ])('of %o has a code, a message and the stack of an error', ([thrown, code, message]) => {
    expect(toFailure(thrown)).toEqual({
      kind: 'other',
      code,
      message,
      ...(thrown instanceof Error && { stack: thrown.stack }),
    })
  })

  test('of the file system also says so', () => {
    const openMissing = () => openSync('/missing/notes.db', 'r')
    expect(openMissing).toThrow(expect.toSatisfy((error) => toFailure(error).kind === 'system'))
  })

  test('of a rule also has its subject', () => {
    expect(toFailure(new IdsExhausted('none', 'notes'))).toEqual({
      kind: 'rule',
      code: 'IdsExhausted',
      message: 'none',
      subject: 'notes',
    })
  })

  test.for<[code: string, WriteFailure, reason: string]>([
    [
      'SQLITE_BUSY_SNAPSHOT',
      'busy',
      'another process holds its lock; stop that process, or try again when it has ended',
    ],
    ['SQLITE_IOERR_FSYNC', 'io', 'why; check the disk, its quota, and the permissions of the file and its folder'],
    ['SQLITE_IOERR_CORRUPTFS', 'io', 'the disk cannot read it; check the disk'],
    ['EIO', 'io', 'the disk cannot read it; check the disk'],
    ['SQLITE_FULL', 'full', 'the disk is full; free some space'],
    ['ENOSPC', 'full', 'the disk is full; free some space'],
    ['EDQUOT', 'full', 'the disk is full; free some space'],
    ['SQLITE_READONLY_DIRECTORY', 'read_only', 'why; check that its file system and its files can be written'],
    ['EROFS', 'read_only', 'why; check that its file system and its files can be written'],
    ['EACCES', 'read_only', 'why; check the path and its permissions'],
    ['ENOENT', 'io', 'why; check the path and its permissions'],
    ['ESTALE', 'io', 'why; check the path and its permissions'],
    ['EFBIG', 'other', 'why; check the path and its permissions'],
    ['ENOTDIR', 'io', 'a part of its path is a file, not a folder; check the path'],
    ['EMFILE', 'other', 'no file descriptor is left; raise the limit (ulimit -n, or LimitNOFILE of systemd)'],
    ['SQLITE_CANTOPEN', 'io', 'why; check the permissions of the file and its folder, and the limit of open files'],
    ['SQLITE_TOOBIG', 'other', 'why; look up SQLITE_TOOBIG on sqlite.org'],
    ['SQLITE_LOCKED', 'other', 'why; look up SQLITE_LOCKED on sqlite.org'],
    ['SQLITE_ERROR', 'other', 'why; check whether another program has changed its tables'],
    ['SQLITE_SCHEMA', 'schema', 'why; check whether another program has changed its tables'],
    [
      'SQLITE_CORRUPT',
      'corrupt',
      'it is corrupt, or the disk cannot read it; check the disk, or restore an intact backup',
    ],
    ['SQLITE_CORRUPT_INDEX', 'corrupt', 'it is corrupt; restore an intact backup'],
    ['SQLITE_NOTADB', 'corrupt', 'it is corrupt; restore an intact backup'],
  ])('%s makes the store unavailable: %s, %s', ([code, failure, reason]) => {
    const kind = code.startsWith('E') ? 'system' : 'other'
    const error = storeError({ kind, code, message: 'why' })
    expect(error).toBeInstanceOf(StoreUnavailable)
    const isRetryable = !['SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB'].includes(code)
    expect(error).toMatchObject({ message: `The database cannot be used: ${reason} (${code}).`, isRetryable, failure })
    expect(isBusy({ kind, code, message: '' })).toBe(failure === 'busy')
  })

  test('has no name of a system call or path in its message', () => {
    const message = "EACCES: permission denied, open '/secret/notes.db'"
    expect(storeError({ kind: 'system', code: 'EACCES', message }).message).toContain(
      ': permission denied; check the path',
    )
  })

  test('keeps a sentence for the operator', () => {
    const failure = toFailure(new FilesDamaged('database lost', 'do this'))
    expect(storeError(failure).message).toBe('The database was deleted, moved or replaced while it was open; do this.')
    expect(writeFailureOf(storeError(failure))).toBe('io')
  })

  const broken = {
    kind: 'other',
    code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
    message: 'FOREIGN KEY constraint failed',
  } as const

  test.for([
    ['notes.remove', notes, 'Something still refers to it.'],
    ['books.update', books, 'Something still refers to it.'],
    // Statements of a product may also delete rows, and write other tables.
    ['notes.purge', notes, 'This would leave a reference to something that is missing.'],
    ['books.purge', books, 'This would leave a reference to something that is missing.'],
  ] as const)('of a reference names the side that %s can break', ([operation, table, message]) => {
    const call = { operation, mutation: undefined, values: [] }
    expect(conflictOf(broken, call, table)).toMatchObject({ name: 'RowConflict', message, fields: [] })
  })

  const loans = sqliteTable(
    'loans',
    {
      id: int64('id').primaryKey({ autoIncrement: true }),
      bookId: int64('book_id').references(() => books.id),
      row: int64('row'),
      shelf: int64('shelf'),
    },
    ({ row, shelf }) => [foreignKey({ columns: [row, shelf], foreignColumns: [books.pages, books.id] })],
  )

  test.for([
    [[1n, null, null], 'The bookId refers to something that is missing.', ['bookId']],
    [[null, 2n, 3n], 'The row and shelf refer to something that is missing.', ['row', 'shelf']],
    [[1n, 2n, 3n], 'The input refers to something that is missing.', []],
  ] as const)('of the references that %o sets names the fields of the only one', ([values, message, fields]) => {
    const call = {
      operation: 'loans.create',
      mutation: { kind: 'adds' as const, fields: ['bookId', 'row', 'shelf'] },
      values: [...values],
    }
    expect(conflictOf(broken, call, loans)).toMatchObject({ message, fields, rule: 'reference' })
  })

  test.for([
    ['notes.create', notes, [], undefined],
    ['notes.create', notes, [books], 'A value that must be unique exists already.'],
    ['books.create', books, [], 'Another one has the same title.'],
  ] as const)('of a uniqueness is that of a table with one: %s', ([operation, table, others, message]) => {
    const failure = {
      kind: 'other',
      code: 'SQLITE_CONSTRAINT_UNIQUE',
      message: 'UNIQUE constraint failed: books.title',
    } as const
    const call = { operation, mutation: undefined, values: [] }
    expect(conflictOf(failure, call, table, [...others])?.message).toBe(message)
  })

  test('of a database that another release has migrated is one that a retry may avoid', () => {
    const failure = toFailure(new OtherRelease())
    expect(concernsDatabase(failure)).toBe(true)
    expect(storeError(failure)).toStrictEqual(new OtherRelease({ isRetryable: true }))
  })

  test('of one write becomes the error of the store for it', () => {
    const own = Object.assign(new RuleViolation('x', 'notes'), { name: 'NoSuchNote' })
    const ofStore = [IdempotencyKeyReused, IdsExhausted, RowConflict].map((Rule) => new Rule('x', 'notes'))
    const codes = ['conflict', 'not_found', 'unprocessable', 'unavailable'] as const
    const refusals = codes.map((code) => Object.assign(new Refusal('x', code), { name: 'NoteIsDone' }))
    const broken = new RowConflict('x', 'notes', ['bookId'], 'reference')
    for (const error of [...ofStore, broken, new RowChanged(['body', 'state'], 'notes'), own, ...refusals]) {
      const restored = storeError(toFailure(error))
      expect([restored, restored.constructor]).toEqual([error, error.constructor])
    }
    const others: Failure[] = [
      { kind: 'other', code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: api_keys.hash' },
      { kind: 'other', code: 'SQLITE_CONSTRAINT_CHECK', message: 'api_keys.name' },
      { kind: 'other', code: 'EvalError', message: 'x' },
      { kind: 'other', code: 'ERR_INVALID_ARG_TYPE', message: 'x' },
      { kind: 'other', code: 'NOT_SQLITE_BUSY', message: 'x' },
      toFailure(Object.assign(new Error('x'), { code: 'ENOENT' })),
    ]
    for (const failure of others) {
      expect(storeError(failure)).toEqual(new Error(`${failure.code}: ${failure.message}`))
      expect(writeFailureOf(storeError(failure))).toBe('other')
    }
  })
})

/** A step that throws so often. */
function failing(times: number, code = 'SQLITE_BUSY'): () => string {
  let tries = 0
  return () => {
    if (tries++ < times) throw sqliteError(code)
    return 'done'
  }
}

test('a step is retried while the database is busy, with pauses in which the process with the lock can run', () => {
  const start = performance.now()
  expect(retryWhileBusy(1_000, failing(4))).toBe('done')
  expect(performance.now() - start).toBeGreaterThan(3)
})

test('a step that is busy until the timeout, or fails otherwise, throws the error of SQLite', () => {
  const start = performance.now()
  expect(() => retryWhileBusy(50, failing(Infinity))).toThrow('of SQLite')
  expect(performance.now() - start).toBeGreaterThan(45)
  expect(() => retryWhileBusy(1_000, failing(1, 'SQLITE_FULL'))).toThrow('of SQLite')
})
