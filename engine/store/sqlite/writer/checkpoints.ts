import { type Failure, toFailure } from '../file/failure.ts'
import { roomFor } from '../file/files.ts'
import type { OpenFile } from '../file/open-file.ts'

/**
 * Pages in the log from which on each commit is followed by a checkpoint, which writes each page once (as
 * `wal_autocheckpoint`).
 */
const checkpointSize = 4_000
/** MiB of pages in the log. Each further warning comes at twice the size of the last one. */
const firstWarning = 64

/** Checkpoints and watches the log: one that only grows fills the disk, and SQLite's own checkpoints ignore errors. */
export function prepareCheckpoints(file: OpenFile) {
  const { connection } = file
  connection.pragma('wal_autocheckpoint = 0')
  const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const readMark = connection.prepare('PRAGMA schema_version')
  const pageSize = Number(connection.pragma('page_size', { simple: true }))
  let failure: Failure | undefined
  let nextWarning = firstWarning

  function warnOfSize(size: number): string | undefined {
    if (size < firstWarning) nextWarning = firstWarning
    if (size < nextWarning) return undefined
    nextWarning = size * 2
    return `The write-ahead log has grown to ${size} MiB. It grows while a process keeps a read transaction open, such as a sqlite3 shell or a copy of the database. End that process.`
  }

  return {
    /** Why the last checkpoint that was due has failed. */
    get failure() {
      return failure
    },

    /**
     * Call it after each commit, before its response. The first read after a commit stores a read mark in the mapped `-shm`
     * file. If the file system is frozen, that blocks the thread in a page fault. Here it blocks the writer's thread; readers
     * find the mark and store nothing.
     */
    publishReadMark(): void {
      try {
        readMark.get()
      } catch {
        // The commit has succeeded.
      }
    },

    /** Call it after each commit. Checkpoints a log that is long, or longer than the room on the disk. Returns a warning. */
    run(): string | undefined {
      // While another connection changes the index, the next check decides.
      const { log, checkpointed } = file.lookAtLog() ?? { log: 0, checkpointed: 0 }
      const fits = () => log < checkpointSize && log * pageSize <= roomFor(connection.name).bytes
      const isDue = log > checkpointed && !fits()
      const hadFailed = failure !== undefined
      failure = undefined
      try {
        if (isDue) checkpoint.get()
      } catch (error) {
        failure = toFailure(error)
      }
      if (failure && !hadFailed)
        return `The write-ahead log cannot be moved into the database (${failure.code}: ${failure.message}), so it only grows. Check the disk.`
      return warnOfSize(Math.round((log * pageSize) / 2 ** 20))
    },
  }
}
