import { drizzle } from 'drizzle-orm/node-postgres'
import type { Pool } from 'pg'
import { isUpToDate, type Migration, type OnMigrate, otherRelease } from '../migrations.ts'
import { type Store, type StoreObserver, type StoreSizes, StoreUnavailable } from '../store.ts'
import { openApiKeys } from './api-keys.ts'
import { openPool } from './connection.ts'
import { prepareCreates } from './creates.ts'
import { mapWriteErrors } from './failure.ts'
import { GroupCommit } from './group-commit.ts'
import { findMissingPart, readJournal, readOwnMigrations } from './migrate.ts'
import { prepareDatabase } from './prepare.ts'
import { prepareReads } from './reads.ts'

interface PostgresStoreOptions {
  url: string
  /** The maximum number of connections, besides the one that listens for changes of API keys. */
  maxConnections?: number | undefined
  /** Whether the tables may be created in a database without them, true by default. */
  create?: boolean
  /** Whether the database of an older release may be migrated, true by default. Otherwise it is refused. */
  migrate?: boolean
  /** Called if they were created. */
  onCreate?: (() => void) | undefined
  onMigrate?: OnMigrate | undefined
  observer?: StoreObserver | undefined
}

/**
 * Opens a store in a PostgreSQL database. Creates or migrates its tables first if necessary. Any number of instances may share the database.
 *
 * @throws {UnusableDatabase}
 */
export async function openPostgresStore({
  url,
  maxConnections,
  create = true,
  migrate = true,
  onCreate,
  onMigrate,
  observer,
}: PostgresStoreOptions): Promise<Store> {
  if (await prepareDatabase(url, { create, migrate, onMigrate })) onCreate?.()
  let connectionErrors = 0
  const pool = openPool(url, maxConnections, () => connectionErrors++)
  const creates = new GroupCommit(prepareCreates(pool), observer)
  const apiKeys = openApiKeys(pool, url, observer)
  const migrations = readOwnMigrations()

  return {
    pets: {
      ...prepareReads(pool),
      create: async (pet) => (await creates.run({ pet })).pet,
      createOnce: (pet, key) => creates.run({ pet, key }),
    },
    apiKeys,
    // Other instances write pets without notifying this one.
    revision: () => undefined,
    check: () => mapWriteErrors(check(pool, migrations), observer),
    load: () => ({ queuedWrites: creates.queued, pool: { ...loadOf(pool), errors: connectionErrors } }),
    sizes: () => measureDatabase(pool),
    async close() {
      await creates.close()
      await Promise.all([apiKeys.close(), pool.end()])
    },
  }
}

async function check(pool: Pool, migrations: Migration[]): Promise<void> {
  const db = drizzle({ client: pool })
  const problem = isUpToDate(await readJournal(db), migrations) ? await findMissingPart(db) : otherRelease
  if (problem !== undefined) throw new StoreUnavailable(problem, { isRetryable: false })
  await pool.query(probe)
}

function loadOf({ totalCount, idleCount, waitingCount, options }: Pool) {
  return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max: options.max }
}

/** Returns nothing if the database cannot be reached, or if all connections are in use. */
async function measureDatabase(pool: Pool): Promise<StoreSizes> {
  if (pool.waitingCount > 0) return {}
  const query = pool.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes')
  const bytes = await query.then(({ rows }) => rows[0]?.bytes).catch(() => undefined)
  return bytes === undefined ? {} : { databaseBytes: Number(bytes) }
}

/**
 * Checks what a create needs without writing a row. EXPLAIN checks the right to insert pets; a real INSERT would wait for
 * the advisory lock. The INSERT of no rows fails in a read-only session, and the pool then replaces the connection. The
 * message must reach the disk; PostgreSQL accepts it in a read-only session, too.
 */
const probe = `
  EXPLAIN INSERT INTO pets (name, category_id, status) VALUES ('probe', 0, 'sold');
  INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at) SELECT 0, '', '', 0, now() WHERE false;
  SELECT pg_logical_emit_message(true, 'petstore', 'probe')`
