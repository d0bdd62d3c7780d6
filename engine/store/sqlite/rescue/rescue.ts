import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { reasons, UnusableDatabase } from '../../collection/errors.ts'
import type { Identity } from '../../database/loaded.ts'
import type { MigrateOptions } from '../../database/migrations.ts'
import { reasonOf, toFailure } from '../file/failure.ts'
import { signals } from '../file/temporary-file.ts'
import { copyPages, copyReadable, type OpenFiles } from './copy-files.ts'
import { newRescuedPath } from './rescued-copies.ts'

/** Milliseconds between two attempts. */
const pause = 1_000
/** Milliseconds after which the same reason is reported again. */
const reportInterval = 60_000
/** Milliseconds without progress after which a second signal ends the process. */
const maxStandstill = 10_000
/** Milliseconds. A terminal sends Ctrl-C to all processes of a group, and npm forwards its own. */
const repeatedSignalTime = 1_000

export interface RescueOptions extends Pick<MigrateOptions, 'onWarning' | 'onRescue'> {
  path: string
  loaded: Pick<Identity, 'program'>
}

/**
 * Copies a database whose files were deleted, moved or replaced. Only the open descriptors of this process still have its
 * data, which is lost when the process ends. Waits as long as space or a permission is missing. No other process can change
 * the files meanwhile, and a signal ends this one only if it is the second one and the copy does not grow. Returns what the
 * operator can do, as a clause.
 */
export function rescue(files: OpenFiles, options: RescueOptions): Promise<string> {
  const { path, loaded } = options
  const { program } = loaded
  const report = reporter(options)
  return holdSignals(options, async (onProgress) => {
    let unreadable: string | undefined
    for (;;) {
      try {
        if (files.isSaved()) return 'all that it had is in the database: start the service again'
        const copy = { path: newRescuedPath(path), program, onProgress }
        if (unreadable === undefined) {
          await copyPages(files, copy)
          return `all that it had is saved in ${copy.path}: restore that file with "${program} restore"`
        }
        if (await copyReadable(files, copy))
          return `only a part of it could be read (${unreadable}), and is saved in ${copy.path}: restore a backup, or read the rows with "sqlite3 ${copy.path} .recover"`
        return `what it had could not be saved (${unreadable}): restore a backup`
      } catch (error) {
        const reason = error instanceof UnusableDatabase ? error.reason : reasonOf(toFailure(error))
        // The files themselves cannot be read. All other reasons prevent the copy, and an operator can remove them.
        const concernsSource = ofSource.some((each) => reason.startsWith(each))
        if (unreadable === undefined && concernsSource) unreadable = reason
        else {
          report(reason)
          await wait(pause)
        }
      }
    }
  })
}

/** A finding of SQLite may follow. */
const ofSource = [reasons.corrupt, reasons.corruptOrUnreadable, reasons.unreadable]

export const lostWhileOpening = 'it was deleted, moved or replaced while it was being opened'

/** The files were lost while a database was being opened, and these connections still have what was in them. */
export class FilesLost extends Error {
  readonly files: OpenFiles

  constructor(files: OpenFiles) {
    super('The database was deleted, moved or replaced while it was being opened.')
    this.files = files
  }
}

/** Opens a database. If its files are lost meanwhile, it is rescued and refused. Throws UnusableDatabase. */
export async function orRescue<T, O extends RescueOptions>(open: (options: O) => T, options: O): Promise<T> {
  try {
    return open(options)
  } catch (error) {
    if (!(error instanceof FilesLost)) throw error
    const remedy = await rescue(error.files, options)
    error.files.connection.close()
    throw new UnusableDatabase(options.path, `${lostWhileOpening}; ${remedy}`)
  }
}

/** Reports a reason at once, and again after a while. */
function reporter({ path, onWarning }: RescueOptions): (reason: string) => void {
  let [last, reportedAt] = ['', 0]
  return (reason) => {
    if (reason === last && performance.now() - reportedAt < reportInterval) return
    last = reason
    reportedAt = performance.now()
    onWarning?.(
      `The database cannot be saved in ${dirname(path)} yet: ${reason}. The process has the only copy, and tries again every second.`,
    )
  }
}

/** Runs the work, which calls its argument when it makes progress. */
async function holdSignals<T>(
  { onWarning, onRescue }: RescueOptions,
  work: (onProgress: () => void) => Promise<T>,
): Promise<T> {
  let firstAt: number | undefined
  let progressAt = performance.now()
  let isOver = false
  const receive = (signal: NodeJS.Signals) => {
    if (firstAt === undefined) {
      firstAt = performance.now()
      onWarning?.(
        `${signal}: the process ends when the database is saved. Another signal ends it at once if the copy has not grown for ${maxStandstill / 1_000} s.`,
      )
    } else if (performance.now() - firstAt > repeatedSignalTime) {
      const end = () => {
        if (!isOver && performance.now() - progressAt > maxStandstill) process.kill(process.pid, 'SIGKILL')
      }
      // Progress may wait in the event loop.
      setTimeout(end, repeatedSignalTime).unref()
    }
  }
  const onProgress = () => {
    progressAt = performance.now()
    onRescue?.()
  }
  for (const signal of signals) process.on(signal, receive)
  onProgress()
  try {
    return await work(onProgress)
  } finally {
    isOver = true
    for (const signal of signals) process.off(signal, receive)
  }
}
