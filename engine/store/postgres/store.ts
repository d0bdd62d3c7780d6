import { drizzle } from 'drizzle-orm/node-postgres'
import type { Pool } from 'pg'
import type { BaseStore, StoreObserver, StoreSizes } from '../base-store.ts'
import { type Engine, type Loaded, methodOf, operationOf } from '../collection/entity.ts'
import { searchWith } from '../collection/search.ts'
import { runtimeMessage, StoreUnavailable } from '../errors.ts'
import { isUpToDate, otherRelease, type PrepareOptions } from '../migrations.ts'
import { openPool } from './connection/connection.ts'
import { Failures } from './connection/failure.ts'
import type { Mutation, PostgresCollection, PostgresEngine, Statement } from './engine.ts'
import { GroupCommit } from './group-commit.ts'
import { findMissingPart, prepareDatabase, readJournal } from './migrate.ts'
import { prepareMutations } from './mutations.ts'
import { countsOf, databaseSize, pagesOf, rowsOf } from './statements.ts'
import { lockStatement } from './transaction.ts'

interface PostgresStoreOptions extends PrepareOptions {
  url: string
  loaded: Loaded<PostgresCollection>
  /** The maximum number of connections. */
  maxConnections?: number | undefined
  observer?: StoreObserver | undefined
}

/**
 * Opens a store in a PostgreSQL database. Creates or migrates its tables first if necessary. Any number of instances may share the database.
 *
 * @throws {UnusableDatabase}
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<BaseStore> {
  const { url, loaded, maxConnections, observer } = options
  await prepareDatabase(url, loaded, options)
  let connectionErrors = 0
  const pool = openPool(url, maxConnections, () => connectionErrors++, loaded.program)
  const failures = new Failures(loaded.collections, observer)
  const mutations = new GroupCommit(prepareMutations(pool, failures), observer)
  const read = readerFor(pool, failures)

  function engineFor(
    collection: string,
    { table, filters, search, insert, writes }: PostgresCollection,
  ): Engine & PostgresEngine {
    function replayable<Input extends object, Generated extends object>(mutation: Mutation<Input, Generated>) {
      const operation = operationOf(collection, writes, mutation)
      return methodOf<Input, Generated>(mutation.fields, (values, idempotency) =>
        mutations.run({ operation, mutation, values, idempotency }),
      )
    }

    return {
      pool,
      failures,
      read,
      list: () => pagesOf(read, table, filters),
      get: () => rowsOf(read, table, 'id'),
      search: () =>
        searchWith(filters, search, {
          get: rowsOf(read, table, 'id'),
          newest: pagesOf(read, table, filters, 'newest'),
          oldest: pagesOf(read, table, filters, 'oldest'),
          step: 250,
        }),
      count: (field: string, limit: number) => countsOf(read, table, field, limit),
      create: () => replayable(insert),
      replayable,
    }
  }

  const opened = Object.entries(loaded.collections).map(([name, collection]) => [
    name,
    collection.open(engineFor(name, collection)),
  ])

  return {
    ...Object.fromEntries(opened),
    // Other instances write rows without notifying this one.
    revision: () => undefined,
    check: () => failures.write(check(pool, loaded)),
    load: () => ({ queuedWrites: mutations.queued, pool: { ...loadOf(pool), errors: connectionErrors } }),
    sizes: () => measureDatabase(pool),
    async close() {
      await mutations.close()
      await pool.end()
    },
  }
}

function readerFor(pool: Pool, failures: Failures): PostgresEngine['read'] {
  return async <Row extends unknown[]>(statement: Statement, values: unknown[]) => {
    const query = { ...statement, values, rowMode: 'array' as const }
    return (await failures.read(pool.query<Row>(query))).rows
  }
}

async function check(pool: Pool, { migrations, collections }: Loaded<PostgresCollection>): Promise<void> {
  const db = drizzle({ client: pool })
  const isCurrent = isUpToDate(await readJournal(db), migrations)
  const missing = isCurrent ? await findMissingPart(db, collections) : undefined
  const problem = isCurrent ? missing && runtimeMessage(missing, '') : otherRelease
  if (problem !== undefined) throw new StoreUnavailable(problem, { isRetryable: false, failure: 'schema' })
  const writes = Object.values(collections).flatMap(({ writes }) => Object.values(writes))
  await pool.query([...writes.map(({ probe }) => probe), ...ownProbes].join(';'))
}

function loadOf({ totalCount, idleCount, waitingCount, options }: Pool) {
  return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max: options.max }
}

/** Returns nothing if the database cannot be reached, or if all connections are in use. */
async function measureDatabase(pool: Pool): Promise<StoreSizes> {
  if (pool.waitingCount > 0) return {}
  return databaseSize(pool).then(
    (databaseBytes) => ({ databaseBytes }),
    () => ({}),
  )
}

/**
 * Statements of the readiness check, run after the mutations' own probes. Together they test every right that a write
 * needs, without writing a row. EXPLAIN checks the right to insert; a real INSERT would wait for the advisory lock. The
 * INSERT of no rows fails in a read-only session, and the pool then replaces the connection. The message must reach the
 * disk; PostgreSQL accepts it in a read-only session, too.
 *
 * While a synchronous standby is away, a commit that waits for it keeps a connection to the server, even if its client has
 * gone. The lock lets only one probe wait, of all instances. The others give up before the next check begins.
 */
const ownProbes = [
  `INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at)
    SELECT api_key_id, key, operation, fingerprint, result, created_at FROM idempotency_keys WHERE false`,
  'SET LOCAL lock_timeout = 900',
  lockStatement('probes'),
  "SELECT pg_logical_emit_message(true, 'readiness', 'probe')",
]
