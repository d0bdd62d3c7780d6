import { setTimeout as wait } from 'node:timers/promises'
import { ClosedStore, OtherRelease, runtimeMessage, StoreUnavailable } from '../../collection/errors.ts'
import type { Loaded } from '../../database/loaded.ts'
import { isUpToDate } from '../../database/migrations.ts'
import type { Prepare, SqliteCollection } from '../collection.ts'
import { isBusy, mayBeReadError, storeError, toFailure } from '../file/failure.ts'
import { openFile } from '../file/open-file.ts'
import { findMissingPart, readJournal } from '../migrate.ts'
import { type WatchOptions, watchFiles } from '../rescue/file-watch.ts'

/** Milliseconds for which a read is retried while the database is locked. */
const busyTimeout = 200
const busyPause = 5
/** Milliseconds. */
const checkInterval = 1_000

/** Reads on the event loop: in WAL mode readers rarely wait for a lock. It checks the files each second, until damage. */
export function openReader(options: WatchOptions & { loaded: Loaded<SqliteCollection> }) {
  const { loaded } = options
  const file = openFile(options.path, { readonly: true })
  const { connection, identities } = file
  const watch = watchFiles(file, options)
  const begin = connection.prepare('BEGIN')
  const commit = connection.prepare('COMMIT')
  /** Changes with each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version). */
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck().safeIntegers(false)
  const checks = setInterval(check, checkInterval).unref()
  let revision: number | undefined
  let isRevisionKnown = false
  /** The version of a schema in which nothing is missing. */
  let completeSchema: unknown

  async function run<T>(read: () => T): Promise<T> {
    let hasRepeated = false
    for (const deadline = performance.now() + busyTimeout; ; ) {
      try {
        if (watch.damage) throw watch.damage
        return read()
      } catch (error) {
        if (!connection.open) throw new ClosedStore()
        endSnapshot()
        check()
        const failure = toFailure(watch.damage ?? error)
        if (isBusy(failure) && performance.now() < deadline) {
          await wait(busyPause)
        } else if (mayBeReadError(failure) && !hasRepeated) {
          hasRepeated = true
        } else throw storeError(failure)
      }
    }
  }

  function endSnapshot(): void {
    if (connection.inTransaction) commit.run()
  }

  function readRevision(): number | undefined {
    try {
      return watch.damage ? undefined : dataVersion.get()
    } catch {
      return undefined
    }
  }

  function check(): void {
    // Stores the read mark for commits of other processes. On a frozen file system a read blocks there: see checkpoints.ts.
    if (!watch.check()) readRevision()
  }

  return {
    identities,
    watch,

    /** Makes a function of a read, which must be one statement, and so one snapshot. */
    add<Args extends unknown[], T>(prepare: Prepare<Args, T>): (...args: Args) => Promise<T> {
      const read = prepare(connection)
      return (...args) => run(() => read(...args))
    },

    /** Why this release cannot use the schema; undefined if it can. */
    schemaProblem(): Promise<StoreUnavailable | undefined> {
      return run(() => {
        if (!isUpToDate(readJournal(connection), loaded.migrations)) return new OtherRelease()
        // Increases with each change of the schema. The comparison takes milliseconds.
        const version = connection.pragma('schema_version', { simple: true })
        if (version === completeSchema) return undefined
        const missing = findMissingPart(connection, loaded)
        if (missing !== undefined)
          return new StoreUnavailable(runtimeMessage(missing, ''), { isRetryable: false, failure: 'schema' })
        completeSchema = version
        return undefined
      })
    },

    /** See {@link BaseStore}. No event is handled meanwhile, so no response has reported a commit that the reads miss. */
    inOneSnapshot(reads: () => void): void {
      if (connection.open) begin.run()
      try {
        reads()
      } finally {
        endSnapshot()
      }
    },

    /** All writes use other connections, so SQLite counts them. The checks of a request have no pause, and share a query. */
    revision(): number | undefined {
      if (!isRevisionKnown) {
        revision = readRevision()
        isRevisionKnown = true
        queueMicrotask(() => (isRevisionKnown = false))
      }
      return revision
    },

    /** Closes the file after it has saved what would be lost. */
    async close(): Promise<void> {
      clearInterval(checks)
      await watch.saved()
      file.close()
    },
  }
}
