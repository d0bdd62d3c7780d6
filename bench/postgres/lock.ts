import { setTimeout as wait } from 'node:timers/promises'
import { median } from '../measure.ts'
import { connect } from './server.ts'

/** The advisory lock that orders the ids of pets, as in the migrations. */
const lock = "locktype = 'advisory' AND classid = 1346720851 AND objid = 2"
/** Milliseconds between two samples. */
const interval = 5

export interface LockUse {
  /** The share of the samples in which a transaction held the lock. */
  held: number
  /** The mean number of transactions that waited for it. */
  waiting: number
  /** Committed transactions. */
  transactions: number
}

/** Samples the lock of a database until the function that it returns is called. The connection is to another database. */
export async function watchLock(url: string, database: string): Promise<() => Promise<LockUse>> {
  const client = await connect(url)
  const { rows } = await client.query<{ oid: number }>('SELECT oid FROM pg_database WHERE datname = $1', [database])
  const oid = rows[0]?.oid
  const before = await countCommits()
  const samples: { held: number; waiting: number }[] = []
  let isStopping = false
  const sampling = sample()

  async function countCommits(): Promise<number> {
    const { rows } = await client.query<{ commits: string }>('SELECT pg_stat_get_db_xact_commit($1) AS commits', [oid])
    return Number(rows[0]?.commits)
  }
  async function sample(): Promise<void> {
    const text = `SELECT count(*) FILTER (WHERE granted)::int AS held, count(*) FILTER (WHERE NOT granted)::int AS waiting
      FROM pg_locks WHERE database = $1 AND ${lock}`
    while (!isStopping) {
      const { rows } = await client.query<{ held: number; waiting: number }>({ name: 'sample', text, values: [oid] })
      samples.push(...rows)
      await wait(interval)
    }
  }

  return async () => {
    isStopping = true
    await sampling
    const mean = (name: 'held' | 'waiting') => samples.reduce((sum, each) => sum + each[name], 0) / samples.length
    // PostgreSQL publishes the statistics of a session that is idle at most a second later.
    await wait(1_500)
    const transactions = (await countCommits()) - before
    await client.end()
    return { held: mean('held'), waiting: mean('waiting'), transactions }
  }
}

/**
 * Milliseconds for which a transaction that inserts this number of pets holds the lock if no other one waits: the median
 * time of the statement and its commit, without the way from this process to PostgreSQL and back.
 */
export async function measureHold(url: string, pets: number, repetitions: number): Promise<number> {
  const client = await connect(url)
  const insert = `INSERT INTO pets (name, category_id, status) SELECT 'pet ' || i, i % 50, 'sold' FROM generate_series(1, $1) AS i`
  async function time(name: string, text: string, values: unknown[]): Promise<number> {
    const times: number[] = []
    for (let i = 0; i < repetitions; i++) {
      const start = performance.now()
      await client.query({ name, text, values })
      times.push(performance.now() - start)
    }
    return median(times)
  }
  try {
    return (await time('insert', insert, [pets])) - (await time('nothing', 'SELECT 1', []))
  } finally {
    await client.end()
  }
}
