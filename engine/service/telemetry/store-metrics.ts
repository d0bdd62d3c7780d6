import { setTimeout as wait } from 'node:timers/promises'
import { type BaseStore, type StoreLoad, type StoreObserver, type StoreSizes, writeFailures } from '#store'
import type { MetricFactory } from './metric-factory.ts'

/** Milliseconds. A disk or a database that does not respond must not delay the other metrics. */
const maxMeasureTime = 1_000
/** Seconds, from a commit on a fast disk to the time after which a disk counts as hanging. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function storeMetrics(factory: MetricFactory) {
  const { gauge, counter } = factory
  let store: Pick<BaseStore, 'load' | 'sizes'> | undefined
  let load: StoreLoad = { queuedWrites: 0 }
  let sizes: StoreSizes = {}
  let measuring: Promise<StoreSizes> | undefined
  let backupInterval: number | undefined
  let failedBackups: number | undefined

  const observer = writeObserver(factory)
  gauge('write_queue_length', 'Writes that wait for their transaction or are in it.', () => load.queuedWrites)
  gauge('database_bytes', 'Size of the database.', () => sizes.databaseBytes)
  gauge('wal_bytes', 'Size of the write-ahead log of SQLite.', () => sizes.logBytes)
  gauge('disk_free_bytes', 'Free space for the SQLite database.', () => sizes.disk?.freeBytes)
  gauge('disk_bytes', 'Size of the file system of the SQLite database.', () => sizes.disk?.bytes)
  const backups = 'the backups of the SQLite database in the folder backups beside it'
  gauge('backup_bytes', `Size of ${backups}, without their checksums.`, () => sizes.backups?.bytes)
  gauge(
    'backup_last_success_timestamp_seconds',
    'Time of the newest backup that the command backup has made, in seconds since 1970.',
    () => inSeconds(sizes.backups?.newestAt?.getTime()),
  )
  gauge('backup_interval_seconds', 'Time between scheduled backups, BACKUP_EVERY.', () => inSeconds(backupInterval))
  const failed = 'Scheduled backups that have failed since the last one that succeeded.'
  gauge('backup_failed_attempts', failed, () => failedBackups)
  const connections = () => (load.pool ? { in_use: load.pool.inUse, idle: load.pool.idle } : {})
  gauge(
    'postgres_connections',
    'Connections to PostgreSQL that are in use or idle.',
    () => Object.entries(connections()).map(([state, count]) => [{ state }, count]),
    ['state'],
  )
  const maximum = 'Maximum number of connections to PostgreSQL for requests.'
  gauge('postgres_connections_max', maximum, () => load.pool?.max ?? 0)
  gauge('postgres_waiting', 'Queries that wait for a connection to PostgreSQL.', () => load.pool?.waiting ?? 0)
  counter(
    'postgres_connection_errors_total',
    'Connections to PostgreSQL that were lost or could not be opened.',
    () => load.pool?.errors ?? 0,
  )

  return {
    /** Observes a store that is opened with it. */
    observer,
    watch(watched: Pick<BaseStore, 'load' | 'sizes'>): void {
      store = watched
    },
    /** @param interval between scheduled backups, in milliseconds; undefined if none are scheduled */
    expectBackups(interval: number | undefined): void {
      backupInterval = interval
      failedBackups = interval === undefined ? undefined : 0
    },
    backupAttempted(failures: number): void {
      failedBackups = failures
    },
    async update(): Promise<void> {
      if (!store) return
      // First, because the measurement takes a connection to PostgreSQL.
      load = store.load()
      // Scrapes share one measurement, so that a disk that hangs blocks at most one thread of Node's pool.
      measuring ??= store
        .sizes()
        .catch(() => ({}))
        .finally(() => (measuring = undefined))
      sizes = await Promise.race([measuring, wait(maxMeasureTime, {}, { ref: false })])
    },
  }
}

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1_000
}

function writeObserver({ histogram, counter }: MetricFactory): StoreObserver {
  // Without labels, too, finding a series takes longer than observing.
  const writes = histogram(
    'transaction_writes',
    'Writes that shared a transaction, readiness checks included.',
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
  ).labels({})
  const transactions = histogram(
    'transaction_duration_seconds',
    'Time of a transaction with writes, its wait for locks and its COMMIT included.',
    buckets,
  ).labels({})
  const commits = histogram(
    'commit_duration_seconds',
    'Time of a COMMIT on SQLite: the write to the log and its fsync.',
    buckets,
  ).labels({})
  const failures = counter(
    'write_failures_total',
    'Writes that failed. The reason rule means that a write broke a rule, such as a reused idempotency key.',
    undefined,
    ['reason'],
  )
  for (const reason of writeFailures) failures.inc({ reason }, 0)
  return {
    transactionCommitted(count, { startedAt, committingAt, committedAt }) {
      writes.observe(count)
      transactions.observe((committedAt - startedAt) / 1_000)
      if (committingAt !== undefined) commits.observe((committedAt - committingAt) / 1_000)
    },
    writeFailed: (reason) => failures.inc({ reason }),
  }
}
