import { setTimeout as wait } from 'node:timers/promises'
import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import {
  type BaseStore,
  type ConnectionPool,
  type StoreObserver,
  type StoreSizes,
  writeFailures,
} from '../../db/store.ts'

/** Milliseconds. A disk or a database that does not respond must not delay the other metrics. */
const maxMeasureTime = 1_000
/** Seconds, from a commit on a fast disk to the time after which a disk counts as hanging. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class StoreMetrics {
  /** Observes a store that is opened with it. */
  readonly observer: StoreObserver
  readonly #queue: Gauge
  readonly #sizes: ReturnType<typeof sizeGauges>
  readonly #pool: ReturnType<typeof poolMetrics>
  #store: Pick<BaseStore, 'load' | 'sizes'> | undefined
  #measuring: Promise<StoreSizes> | undefined

  constructor(registry: Registry) {
    this.observer = writeObserver(registry)
    this.#queue = new Gauge({
      name: 'petstore_write_queue_length',
      help: 'Writes that wait for their transaction or are in it.',
      registers: [registry],
    })
    this.#sizes = sizeGauges(registry)
    this.expectBackups(undefined)
    this.#pool = poolMetrics(registry)
  }

  /** Includes the state of a store. */
  watch(store: Pick<BaseStore, 'load' | 'sizes'>): void {
    this.#store = store
  }

  /** @param interval between scheduled backups, in milliseconds; undefined if none are scheduled */
  expectBackups(interval: number | undefined): void {
    setOrRemove(this.#sizes.backupInterval, interval && interval / 1_000)
  }

  async update(): Promise<void> {
    if (!this.#store) return
    const { queuedWrites, pool } = this.#store.load()
    this.#queue.set(queuedWrites)
    if (pool) this.#setPool(pool)
    const { databaseBytes, logBytes, backups } = await this.#measure(this.#store)
    setOrRemove(this.#sizes.database, databaseBytes)
    setOrRemove(this.#sizes.log, logBytes)
    setOrRemove(this.#sizes.backups, backups?.bytes)
    setOrRemove(this.#sizes.newestBackup, backups?.newestAt && backups.newestAt.getTime() / 1_000)
  }

  #setPool({ inUse, idle, waiting, max, errors }: ConnectionPool): void {
    this.#pool.connections.set({ state: 'in_use' }, inUse)
    this.#pool.connections.set({ state: 'idle' }, idle)
    this.#pool.max.set(max)
    this.#pool.waiting.set(waiting)
    this.#pool.errors.reset()
    this.#pool.errors.inc(errors)
  }

  /** Scrapes share one measurement, so that a disk that hangs blocks at most one thread of Node's pool. */
  async #measure(store: Pick<BaseStore, 'sizes'>): Promise<StoreSizes> {
    this.#measuring ??= store
      .sizes()
      .catch(() => ({}))
      .finally(() => (this.#measuring = undefined))
    return Promise.race([this.#measuring, wait(maxMeasureTime, {}, { ref: false })])
  }
}

/** Without a value there is no series, because 0 would be a wrong one. */
function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove()
  else gauge.set(value)
}

function writeObserver(registry: Registry): StoreObserver {
  const registers = [registry]
  const writes = new Histogram({
    name: 'petstore_transaction_writes',
    help: 'Writes that shared a transaction, readiness checks included.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    registers,
  })
  const transactions = new Histogram({
    name: 'petstore_transaction_duration_seconds',
    help: 'Time of a transaction with writes, its wait for locks and its COMMIT included.',
    buckets,
    registers,
  })
  const commits = new Histogram({
    name: 'petstore_commit_duration_seconds',
    help: 'Time of a COMMIT on SQLite: the write to the log, its fsync, and a checkpoint if one was due.',
    buckets,
    registers,
  })
  const failures = new Counter({
    name: 'petstore_write_failures_total',
    help: 'Writes that failed. The reason rule means that a write broke a rule, such as a reused idempotency key.',
    labelNames: ['reason'],
    registers,
  })
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

function sizeGauges(registry: Registry) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  return {
    database: gauge('petstore_database_bytes', 'Size of the database.'),
    log: gauge('petstore_wal_bytes', 'Size of the write-ahead log of SQLite.'),
    backups: gauge('petstore_backup_bytes', 'Size of all backups in the folder backups beside the SQLite database.'),
    newestBackup: gauge(
      'petstore_backup_last_success_timestamp_seconds',
      'Time of the newest backup in that folder, in seconds since 1970.',
    ),
    backupInterval: gauge('petstore_backup_interval_seconds', 'Time between scheduled backups, BACKUP_EVERY.'),
  }
}

function poolMetrics(registry: Registry) {
  const registers = [registry]
  return {
    connections: new Gauge({
      name: 'petstore_postgres_connections',
      help: 'Connections to PostgreSQL that are in use or idle.',
      labelNames: ['state'],
      registers,
    }),
    max: new Gauge({
      name: 'petstore_postgres_connections_max',
      help: 'Maximum number of connections to PostgreSQL for requests.',
      registers,
    }),
    waiting: new Gauge({
      name: 'petstore_postgres_waiting',
      help: 'Queries that wait for a connection to PostgreSQL.',
      registers,
    }),
    errors: new Counter({
      name: 'petstore_postgres_connection_errors_total',
      help: 'Connections to PostgreSQL that were lost or could not be opened.',
      registers,
    }),
  }
}
