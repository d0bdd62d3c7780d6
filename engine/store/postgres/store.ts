import { drizzle } from 'drizzle-orm/node-postgres'
import type { Pool } from 'pg'
import type { BaseStore, StoreObserver } from '../collection/base-store.ts'
import { changeMethodOf } from '../collection/change.ts'
import type { Derived } from '../collection/derived.ts'
import { OtherRelease, runtimeMessage, StoreUnavailable, writeFailureOf } from '../collection/errors.ts'
import { history, historyWith } from '../collection/history.ts'
import { addingMethodOf, operationOf, type RunMutation } from '../collection/mutation.ts'
import { searchWith } from '../collection/search.ts'
import type { Loaded } from '../database/loaded.ts'
import { isUpToDate, type PrepareOptions } from '../database/migrations.ts'
import type { AnyMutation, Mutation, PostgresAccess, PostgresCollection, Statement } from './collection.ts'
import { openPool } from './connection/connection.ts'
import { failuresOf } from './connection/failure.ts'
import { groupCommit } from './group-commit.ts'
import { findMissingPart, prepareDatabase, readJournal } from './migrate.ts'
import { prepareMutations } from './mutations.ts'
import { countsOf, databaseSize, pagesOf, rowsOf } from './statements.ts'
import { postgresTableOf, tablesOf } from './table.ts'
import { lockStatement } from './transaction.ts'

interface PostgresStoreOptions extends PrepareOptions {
  url: string
  loaded: Loaded<PostgresCollection>
  maxConnections?: number | undefined
  observer?: StoreObserver | undefined
}

/** Prepares and opens a PostgreSQL database, which any number of instances may share. Throws UnusableDatabase. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<BaseStore> {
  const { url, loaded, maxConnections, observer } = options
  await prepareDatabase(url, loaded, options)
  let connectionErrors = 0
  const pool = openPool(url, maxConnections, () => connectionErrors++, loaded.program)
  const failures = failuresOf(tablesOf(loaded.collections))
  const mutations = groupCommit(prepareMutations(pool, failures, options.historyDays), observer)
  const probes: string[] = []

  async function read<Row extends unknown[]>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const { rows } = await pool.query<Row>({ ...statement, values, rowMode: 'array' }).catch((error) => {
      throw failures.storeError(error)
    })
    return rows
  }

  function accessFor(
    collection: string,
    { table, filters, search, mutations: derived, writes }: PostgresCollection,
  ): Derived & PostgresAccess {
    const { revision, renew } = shortRevision()

    function runnerOf(mutation: AnyMutation): RunMutation {
      const operation = operationOf(collection, writes, mutation)
      probes.push(mutation.probe)
      return (values, idempotency) => mutations.run({ operation, mutation, table, values, idempotency }).finally(renew)
    }

    function replayable<Input extends object, Generated extends object>(mutation: Mutation<Input, Generated>) {
      return addingMethodOf<Input, Generated>(mutation.fields, runnerOf(mutation))
    }

    return {
      read,
      list: () => pagesOf(read, table, filters),
      get: () => rowsOf(read, table, 'id'),
      getBy: (field) => rowsOf(read, table, field),
      search: () =>
        searchWith(filters, search, {
          get: rowsOf(read, table, 'id'),
          newest: pagesOf(read, table, filters, 'newest'),
          oldest: pagesOf(read, table, filters, 'oldest'),
          step: 250,
        }),
      count: (field: string, limit: number) => countsOf(read, table, field, limit),
      create: () => replayable(derived.create),
      update: () => changeMethodOf(table, runnerOf(derived.update)),
      remove: () => changeMethodOf(table, runnerOf(derived.remove)),
      history: () => historyWith(table, pagesOf(read, postgresTableOf(history), ['rowId', 'collection'], 'newest')),
      revision,
      replayable,
    }
  }

  const opened = Object.entries(loaded.collections).map(([name, collection]) => [
    name,
    collection.open(accessFor(name, collection)),
  ])

  return {
    ...Object.fromEntries(opened),
    // Other instances write rows without notifying this one.
    revision: () => undefined,
    inOneSnapshot: (run) => run(),
    async check() {
      await check(pool, loaded, probes).catch((thrown) => {
        const error = failures.storeError(thrown)
        observer?.writeFailed?.(writeFailureOf(error))
        throw error
      })
    },
    load() {
      const { totalCount, idleCount: idle, waitingCount: waiting, options } = pool
      const load = { inUse: totalCount - idle, idle, waiting, max: options.max, errors: connectionErrors }
      return { queuedWrites: mutations.queued, pool: load }
    },
    async sizes() {
      // Not if the database cannot be reached, or if all connections are in use.
      const size = pool.waitingCount > 0 ? undefined : await databaseSize(pool).catch(() => undefined)
      return size === undefined ? {} : { databaseBytes: size }
    },
    async saved() {},
    async close() {
      await mutations.close()
      if (!pool.ending) await pool.end()
    },
  }
}

async function check(
  pool: Pool,
  { migrations, collections }: Loaded<PostgresCollection>,
  probes: string[],
): Promise<void> {
  const db = drizzle({ client: pool })
  if (!isUpToDate(await readJournal(db), migrations)) throw new OtherRelease()
  const missing = await findMissingPart(db, collections)
  if (missing !== undefined)
    throw new StoreUnavailable(runtimeMessage(missing, ''), { isRetryable: false, failure: 'schema' })
  await pool.query([...probes, ...ownProbes].join(';'))
}

/** Milliseconds for which a revision holds, because other instances write, too. */
const maxAge = 1_000

/** A revision that differs after each write of this instance, and after {@link maxAge}. */
function shortRevision() {
  let revision = 0
  let renewedAt = 0

  function renew(): void {
    revision++
    renewedAt = performance.now()
  }

  return {
    renew,
    revision() {
      if (performance.now() - renewedAt > maxAge) renew()
      return revision
    },
  }
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
  'DELETE FROM idempotency_keys WHERE false',
  'SET LOCAL lock_timeout = 900',
  lockStatement('probes'),
  "SELECT pg_logical_emit_message(true, 'readiness', 'probe')",
]
