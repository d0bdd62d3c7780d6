import { join } from 'node:path'
import { createPetstoreClient, type PetstoreClient } from '../../client/index.ts'
import { petStatuses } from '../../db/pets/rules.ts'
import type { Store } from '../../db/store.ts'
import type * as databases from '../../engine/test/support/database.ts'
import { fixturesOf } from '../../engine/test/support/fixtures-of.ts'
import type * as api from '../../engine/test/support/test-api.ts'
import { transferFixtures } from '../../engine/test/support/transfer.ts'
import { petTransfer } from '../../server/pets/pets.ts'
import { service } from '../../server/service.ts'

/** What the tests of the pet store do with it. */
const fixtures = await fixturesOf({
  service,
  commandLine: [process.execPath, join(import.meta.dirname, '../../server/launch.mjs')],
  createClient: createPetstoreClient,
  row: {
    table: 'pets',
    columns: '(id, name, category_id, status)',
    valuesOf: (id) => `(${id}, 'Rex', 1, 'sold')`,
    insertingFrom: (word) => `INSERT INTO pets (name, category_id, status) SELECT '${word} ' || n, n, 'available'`,
    text: 'name',
    integer: { field: 'categoryId', column: 'category_id' },
    choice: { field: 'status', values: petStatuses },
    word: 'pet',
    index: 'pets_by_status',
    json: '{"name":"Rex","categoryId":7}',
  },
})

export const { addingRow, addingRows, apiKeyRecord, backUp, bannerKey, changedRows, commandLine } = fixtures
export const { contextWith, createFirstKey, createInTwoParts, createKey, createRequest, databaseNameOf } = fixtures
export const { expectAsAcknowledged, filesIn, keptIn, listen, locationOf, makeBackup, makeDatabase } = fixtures
export const { mintApiKey, ndjsonOf, onPostgres, onSqlite, openFileStore, openPostgres, openSqlite } = fixtures
export const { openTestStore, postgresDatabase, preparePostgres, prepareSqlite, product, readConfig } = fixtures
export const { restore, revokeKey, rowsIn, runProgram, runToEnd, shareEmptiedTestApi, shareTestApi } = fixtures
export const { sqliteDatabase, startChanges, startLoad, startOf, startServer, startTestApi, startTraced } = fixtures
export const { startWithKey, storedTexts, tableNames, testDatabase, textsIn, unfitFiles, variableNames } = fixtures
export { service }
export type TestDatabase = databases.TestDatabase<Store>
export type TestApi = api.TestApi<Store, PetstoreClient>
export type StartOptions = api.StartOptions<Store>

/** Adds pets named `pet 1`, `pet 2` and so on, in the order of their ids. */
export async function addPets(store: Store, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `pet ${index + 1}`)
  await Promise.all(names.map((name) => store.pets.create({ name, categoryId: 1n, status: 'available' })))
}

export const { checkText, exportText, importText } = transferFixtures(petTransfer)
