import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Inspection } from './inspection.ts'
import type { Location } from './location.ts'
import type { ResourceList } from './resource-list.ts'

/**
 * Opens a database for inspection. Loads only the driver that is needed.
 *
 * @returns undefined if there is no SQLite file yet, or nothing in it.
 * @throws {UnusableDatabase}
 */
export async function inspect(list: ResourceList, location: Location): Promise<Inspection | undefined> {
  if (location.kind === 'postgres') {
    const { inspectPostgres } = await import('./inspection/postgres.ts')
    return inspectPostgres(location.url, await list.forPostgres())
  }
  const { inspectSqlite } = await import('./inspection/sqlite.ts')
  return inspectSqlite(location.path, await list.forSqlite())
}

const [probe, preload] = ['inspection/write-probe.ts', 'fast-start.mjs'].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
)

/**
 * Takes the write lock of an SQLite database and syncs a file beside it, in a process of its own: a frozen disk stops
 * every process that writes to it, and some that read.
 *
 * @param timeout milliseconds
 * @returns what is wrong, `hangs` if the disk did not respond in time, or undefined
 */
export async function tryWrite(path: string, timeout: number): Promise<string | undefined> {
  const child = spawn(process.execPath, ['--import', String(preload), String(probe), path], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const { promise: failed, reject } = Promise.withResolvers<never>()
  child.once('error', reject)
  const timer = new AbortController()
  const problem = await Promise.race([
    text(child.stdout),
    failed,
    wait(timeout, 'hangs', { signal: timer.signal }),
  ]).finally(() => timer.abort())
  child.unref()
  child.stdout.destroy()
  return problem === 'ok' ? undefined : problem || 'The process that tried a write ended without a result.'
}
