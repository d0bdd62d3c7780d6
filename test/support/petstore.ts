import { join } from 'node:path'
import { createPetstoreClient, type PetstoreClient } from '../../client/index.ts'
import type { Store } from '../../db/store.ts'
import type * as databases from '../../engine/test/support/database.ts'
import type * as api from '../../engine/test/support/test-api.ts'
import { testsOf } from '../../engine/test/support/tests-of.ts'
import { transferTests } from '../../engine/test/support/transfer.ts'
import { petTransfer } from '../../server/pets/transfer.ts'
import { service } from '../../server/service.ts'

/** What the tests of the pet store do with it. */
const tests = await testsOf({
  service,
  commandLine: [process.execPath, join(import.meta.dirname, '../../server/launch.mjs')],
  createClient: createPetstoreClient,
  row: {
    table: 'pets',
    columns: '(id, name, category_id, status)',
    valuesOf: (id) => `(${id}, 'Rex', 1, 'sold')`,
    insertingFrom: (word) => `INSERT INTO pets (name, category_id, status) SELECT '${word} ' || n, n, 'available'`,
    text: 'name',
    word: 'pet',
    index: 'pets_by_status',
    json: '{"name":"Rex","categoryId":7}',
  },
})

export const { addingRow, addingRows, apiKeyRecord, backUp, bannerKey, commandLine, contextWith, createFirstKey } =
  tests
export const { createInTwoParts, createKey, createRequest, databaseNameOf, filesIn, keptIn, listen, locationOf } = tests
export const { makeBackup, makeDatabase, mintApiKey, onPostgres, onSqlite, openFileStore, openPostgres } = tests
export const { openSqlite, openTestStore, postgresDatabase, preparePostgres, prepareSqlite, prepareWrites } = tests
export const { product, readConfig, restore, revokeKey, rowsIn, runProgram, shareEmptiedTestApi } = tests
export const { shareTestApi, sqliteDatabase, startOf, startServer, startTestApi } = tests
export const { startWithKey, storedTexts, tableNames, testDatabase, textsIn, unfitFiles } = tests
export const { variableNames } = tests
export { service }
export type TestDatabase = databases.TestDatabase<Store>
export type TestApi = api.TestApi<Store, PetstoreClient>
export type StartOptions = api.StartOptions<Store>

/** Adds pets named `pet 1`, `pet 2` and so on, in the order of their ids. */
export async function addPets(store: Store, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `pet ${index + 1}`)
  await Promise.all(names.map((name) => store.pets.create({ name, categoryId: 1n, status: 'available' })))
}

export const { checkText, exportText, importText } = transferTests(petTransfer)

/** Lines of NDJSON with pets named `pet 1`, `pet 2` and so on. */
export function ndjsonOf(count: number): string {
  return Array.from({ length: count }, (_, index) => `{"name":"pet ${index + 1}","categoryId":${index}}\n`).join('')
}
