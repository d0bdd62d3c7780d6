import { drizzle } from 'drizzle-orm/node-postgres'
import type { Pool } from 'pg'
import { isUpToDate, type Migration } from '../migrations.ts'
import { type CreateResult, type Store, StoreUnavailable } from '../store.ts'
import { openApiKeys } from './api-keys.ts'
import { openPool } from './connection.ts'
import { prepareCreations } from './creations.ts'
import { inPortsWords } from './failure.ts'
import { GroupCommit } from './group-commit.ts'
import type { NewCreation } from './idempotency.ts'
import { readJournal, readOwnMigrations } from './migrate.ts'
import { prepareDatabase } from './prepare.ts'
import { prepareReads } from './reads.ts'

interface PostgresStoreOptions {
  url: string
  /** Whether a database without our tables is given them, which is so by default. */
  create?: boolean
  /** Called if it was. */
  onCreate?: (() => void) | undefined
}

/**
 * Opens a store in a PostgreSQL database, which is migrated first if need be. Any number of instances may share it.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openPostgresStore({ url, create = true, onCreate }: PostgresStoreOptions): Promise<Store> {
  if (await prepareDatabase(url, { create })) onCreate?.()
  const pool = openPool(url)
  const reads = prepareReads(pool)
  const creations = new GroupCommit<NewCreation, CreateResult>(prepareCreations(pool))
  const apiKeys = openApiKeys(pool, url)
  const migrations = readOwnMigrations()

  return {
    pets: {
      list: (query) => inPortsWords(reads.listPets(query)),
      get: (id) => inPortsWords(reads.getPet(id)),
      create: async (pet) => (await creations.run({ pet })).pet,
      createOnce: (pet, key) => creations.run({ pet, key }),
    },
    apiKeys,
    // Other instances write without this one's knowledge.
    revision: () => undefined,
    check: () => inPortsWords(check(pool, migrations)),
    async close() {
      await creations.idle()
      await Promise.all([apiKeys.close(), pool.end()])
    },
  }
}

async function check(pool: Pool, migrations: Migration[]): Promise<void> {
  if (!isUpToDate(await readJournal(drizzle({ client: pool })), migrations)) {
    throw new StoreUnavailable('Another release has migrated the database.', { isRetryable: false })
  }
  await pool.query(probe)
}

/**
 * What creates need, without a row. EXPLAIN checks the right to insert pets: a real INSERT would wait for the advisory
 * lock. An INSERT of no rows fails in a read-only session, and the pool then replaces the connection. The message must
 * reach the disk, but is also accepted in a read-only session.
 */
const probe = `
  EXPLAIN INSERT INTO pets (name, category_id, status) VALUES ('probe', 0, 'sold');
  INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at) SELECT 0, '', '', 0, now() WHERE false;
  SELECT pg_logical_emit_message(true, 'petstore', 'probe')`
