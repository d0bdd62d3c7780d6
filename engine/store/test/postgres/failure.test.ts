import { DatabaseError } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { onPostgres } from '../../../test/notes/database.ts'
import { freePort } from '../../../test/support/free-port.ts'
import type { WriteFailure } from '../../collection/base-store.ts'
import { IdempotencyKeyReused, StoreUnavailable, writeFailureOf } from '../../collection/errors.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { failuresOf } from '../../postgres/connection/failure.ts'
import { tablesOf } from '../../postgres/table.ts'

test.for<[WriteFailure, unknown]>([
  ['busy', sqlError('55P03')],
  ['busy', sqlError('57014')],
  ['busy', sqlError('40P01')],
  ['full', sqlError('53100')],
  ['io', sqlError('58030')],
  ['read_only', sqlError('25006')],
  ['corrupt', sqlError('XX001')],
  ['schema', sqlError('42P01')],
  ['schema', sqlError('3D000')],
  ['schema', sqlError('22001')],
  ['schema', sqlError('23514', 'rule_of_another_release')],
  ['schema', new StoreUnavailable('Another release has migrated the database.', { failure: 'schema' })],
  ['unreachable', sqlError('08006')],
  ['unreachable', sqlError('28P01')],
  ['unreachable', sqlError('57P01')],
  ['unreachable', sqlError('53300')],
  ['unreachable', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
  ['unreachable', new Error('timeout exceeded when trying to connect')],
  ['rule', sqlError('2200H')],
  ['rule', new IdempotencyKeyReused('x')],
  ['rule', sqlError('23505', 'api_keys_unrevoked_name')],
  ['other', new StoreUnavailable('The store is closed.')],
  ['other', sqlError('XX000')],
  ['other', sqlError('23514', 'notes_state_known')],
  ['other', new TypeError('x')],
])('a write fails with the reason %s: %s', ([reason, error]) => {
  expect(writeFailureOf(failuresOf(tablesOf(onPostgres.collections)).storeError(error))).toBe(reason)
})

function sqlError(code: string, constraint?: string): DatabaseError {
  return Object.assign(new DatabaseError(code, 0, 'error'), { code, constraint })
}

test('a connection that cannot be opened is reported once', async () => {
  let errors = 0
  const pool = openPool(`postgres://notes@127.0.0.1:${await freePort()}/notes`, 2, () => errors++)
  onTestFinished(() => pool.end())
  await expect(pool.query('SELECT 1')).rejects.toThrow('ECONNREFUSED')
  expect(errors).toBe(1)
})
