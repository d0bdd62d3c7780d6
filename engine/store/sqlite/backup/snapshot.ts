import { once } from 'node:events'
import type Database from 'better-sqlite3'
import { UnusableDatabase } from '../../collection/errors.ts'
import { type Migration, pendingMigrations } from '../../database/migrations.ts'
import { checkPages, connect, connectToRead, databaseSize, orClose } from '../file/connection.ts'
import { orUnusable, unusable } from '../file/diagnosis.ts'
import { toFailure } from '../file/failure.ts'
import { syncFolder } from '../file/files.ts'
import { type Guard, type Place, withTemporaryFile } from '../file/temporary-file.ts'
import { readJournal } from '../migrate.ts'
import { startThread } from '../thread.ts'

/** Bytes that were copied, of all bytes of the database. When both are equal, the check of the copy begins. */
export interface Progress {
  done: number
  total: number
}

export type OnProgress = (progress: Progress) => void

interface CopyOptions extends Place {
  /** The file that messages name: what the copy is to become, or the database if the copy is streamed. */
  target: string
  onProgress?: OnProgress | undefined
  guard?: Guard | undefined
}

interface SnapshotOptions extends CopyOptions {
  /** The migrations of this release. A database of a newer one is refused. */
  migrations: Migration[]
  /** The database to copy, which must be one of this service. It is only read, and other processes may use it meanwhile. */
  source: string
}

/** 4 MiB. Signals are handled between two steps. */
const pagesPerStep = 1_000

/**
 * Copies a database as it is at one moment into one file, checks the copy, and reads it. The copy has a temporary name until
 * `publish`, which gets the result, gives it its final one. Throws UnusableDatabase.
 */
export async function withSnapshot<T>(
  request: SnapshotOptions,
  read: (copy: string) => Promise<T>,
  publish: (copy: string, result: T) => void = () => {},
): Promise<void> {
  const connection = orUnusable(request.source, () => openSource(request))
  try {
    // `read` is last, because closing the file drops the locks of this process on it.
    const verify = (copy: string) => check(copy, request.source).then(() => read(copy))
    await withCopy(connection, request, verify, publish)
  } finally {
    connection.close()
  }
}

/** Like {@link withSnapshot}, through an open connection. `verify` reads the copy, which is locked then, for `publish`. */
export async function withCopy<T>(
  connection: Database.Database,
  { target, onProgress, guard, ...place }: CopyOptions,
  verify: (copy: string) => Promise<T>,
  publish: (copy: string, result: T) => void,
): Promise<void> {
  try {
    const total = databaseSize(connection)
    const work = async (copy: string) => {
      await backUpPages(connection, copy, (part) => onProgress?.({ done: Math.floor(total * part), total }))
      const lock = finishCopy(copy)
      onProgress?.({ done: total, total })
      const result = await verify(copy).finally(() => lock.close())
      publish(copy, result)
      syncFolder(place.folder)
    }
    await withTemporaryFile(place, work, guard)
  } catch (error) {
    throw unusable(target, error)
  }
}

/** Begins a read transaction, so that commits of other processes neither change nor restart the copy. */
function openSource({ migrations, source }: SnapshotOptions): Database.Database {
  const connection = connectToRead(source)
  return orClose(connection, () => {
    connection.exec('BEGIN')
    pendingMigrations(readJournal(connection), migrations, source)
    return connection
  })
}

/** @param onStep is called with the part that is copied, from 0 to 1. */
async function backUpPages(source: Database.Database, copy: string, onStep: (part: number) => void): Promise<void> {
  try {
    await source.backup(copy, {
      progress({ totalPages, remainingPages }) {
        onStep(1 - remainingPages / totalPages)
        return pagesPerStep
      },
    })
  } catch (error) {
    // Only a full disk is certain to concern the copy: other errors may come from the source.
    if (toFailure(error).code !== 'SQLITE_FULL') orUnusable(source.name, () => checkPages(source, 'quick_check'))
    throw error
  }
}

/** Makes the copy one file that needs no log. The lock of the connection shows other processes that it is in use. */
function finishCopy(copy: string): Database.Database {
  const connection = connect(copy, { busyTimeout: 0 })
  return orClose(connection, () => {
    connection.pragma('journal_mode = DELETE')
    connection.exec('BEGIN')
    readJournal(connection)
    return connection
  })
}

/**
 * Checks the copy in a thread, because that is one long call into SQLite; the process does not wait for its end. The copy has
 * the same pages as the source, so it is the source that is corrupt if the copy is.
 */
async function check(copy: string, source: string): Promise<void> {
  try {
    await once(startThread(new URL('page-check-thread.ts', import.meta.url), copy), 'exit')
  } catch (error) {
    // An error from a thread keeps its properties, but not its class.
    if (error instanceof Error && 'reason' in error) throw new UnusableDatabase(source, String(error.reason))
    throw unusable(source, error)
  }
}
