import type { BaseStore } from '../collection/base-store.ts'
import { openCollections } from '../collection/derived.ts'
import { ClosedStore, OtherRelease, runtimeMessage, StoreUnavailable, writeFailureOf } from '../collection/errors.ts'
import { history } from '../collection/history.ts'
import type { Loaded, OpenOptions } from '../database/loaded.ts'
import { isUpToDate } from '../database/migrations.ts'
import type { PostgresCollection, Statement } from './collection.ts'
import { openPool } from './connection/connection.ts'
import { failuresOf } from './connection/failure.ts'
import { createOrMigrate } from './create-or-migrate.ts'
import { groupCommit } from './group-commit.ts'
import { findMissingPart, readJournal } from './migrate.ts'
import { prepareMutations } from './mutations.ts'
import { countsOf, databaseSize, pagesOf, rowBy } from './statements.ts'
import { postgresTableOf, tablesOf } from './table.ts'
import { lockStatement } from './transaction.ts'

/** Prepares and opens a PostgreSQL database, which any number of instances may share. Throws UnusableDatabase. */
export async function openPostgresStore(
  options: OpenOptions & { url: string; loaded: Loaded<PostgresCollection> },
): Promise<BaseStore> {
  const { url, loaded, maxConnections, observer } = options
  await createOrMigrate(url, loaded, options)
  let connectionErrors = 0
  const pool = openPool(url, maxConnections, () => connectionErrors++, loaded.program)
  const failures = failuresOf(tablesOf(loaded.collections))
  const mutations = groupCommit(prepareMutations(pool, failures, options.historyDays), observer)
  const probes = new Set<string>()

  async function read<Row extends unknown[]>(statement: Statement, values: unknown[]): Promise<Row[]> {
    if (pool.ending) throw new ClosedStore()
    const { rows } = await pool.query<Row>({ ...statement, values, rowMode: 'array' }).catch((error) => {
      throw failures.storeError(error)
    })
    return rows
  }

  async function close(): Promise<void> {
    await mutations.close()
    if (!pool.ending) await pool.end()
  }

  const collections = openCollections(loaded.collections, { read }, { step: 250, close }, ({ table, filters }) => {
    const { revision, renew } = shortRevision()
    return {
      pages: (order) => pagesOf(read, table, filters, order),
      getBy: (field) => rowBy(read, table, field),
      counts: (field, limit) => countsOf(read, table, field, limit),
      entries: () => pagesOf(read, postgresTableOf(history), ['rowId', 'tableName'], 'newest'),
      run(operation, mutation) {
        if (mutation.probe !== undefined) probes.add(mutation.probe)
        return (values, idempotency) =>
          mutations.run({ operation, mutation, table, values, idempotency }).finally(renew)
      },
      revision,
    }
  })

  return {
    ...collections,
    // Other instances write rows without notifying this one.
    revision: () => undefined,
    inOneSnapshot: (run) => run(),
    async check() {
      try {
        if (!isUpToDate(await readJournal(pool), loaded.migrations)) throw new OtherRelease()
        const missing = await findMissingPart(pool, loaded.collections)
        if (missing !== undefined)
          throw new StoreUnavailable(runtimeMessage(missing, ''), { isRetryable: false, failure: 'schema' })
        await pool.query([...probes, ...engineProbes].join(';'))
      } catch (thrown) {
        const error = failures.storeError(thrown)
        observer?.writeFailed?.(writeFailureOf(error))
        throw error
      }
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
    close,
  }
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
 * Statements of the readiness check, run after those of the mutations. Together they test every right that a write
 * needs, without writing a row. EXPLAIN checks the right to insert; a real INSERT would wait for the advisory lock. The
 * INSERT of no rows fails in a read-only session, and the pool then replaces the connection. The message must reach the
 * disk; PostgreSQL accepts it in a read-only session, too.
 *
 * While a synchronous standby is away, a commit that waits for it keeps a connection to the server, even if its client has
 * gone. The lock lets only one probe wait, of all instances. The others give up before the next check begins.
 */
const engineProbes = [
  `INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at)
    SELECT api_key_id, key, operation, fingerprint, result, created_at FROM idempotency_keys WHERE false`,
  'DELETE FROM idempotency_keys WHERE false',
  'SET LOCAL lock_timeout = 900',
  lockStatement('probes'),
  "SELECT pg_logical_emit_message(true, 'readiness', 'probe')",
]
