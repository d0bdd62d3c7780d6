import { parentPort, workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import { isUpToDate, otherRelease } from '../migrations.ts'
import { type Failure, toFailure, violatesConstraint } from './failure.ts'
import { LogWatch } from './log-watch.ts'
import { readJournal, readOwnMigrations } from './migrate.ts'
import { FilesChanged, OpenFile, StaleFiles } from './open-file.ts'
import type { WriterOptions } from './writer.ts'
import { type Batch, commitTogether, type Outcome, prepareWrites, type Settled, type Write } from './writes.ts'

/** The thread that owns the only connection that writes. It replies to each batch once it is on disk. */

const port = parentPort
if (!port) throw new Error('The writer must run in a worker thread.')

const { path }: Pick<WriterOptions, 'path'> = workerData
type Statements = ReturnType<typeof prepare>

let file: OpenFile<Statements> | undefined
let mustReopen = false

port.on('message', (message: Batch | 'close') => {
  if (message !== 'close') return port.postMessage(commit(message))
  file?.close()
  port.close()
})

/**
 * Checks after the commit that the files are still in their places. If not, the whole batch fails, and the next one opens
 * the file that is at the path by then.
 */
function commit({ batch, lockTimeout }: Batch): Settled {
  let isFinal = false
  try {
    const file = openFile()
    const { log } = file.statements
    const outcomes = commitInPlace(file, batch, lockTimeout).map((outcome) =>
      'failure' in outcome ? { failure: explain(file, outcome.failure) } : outcome,
    )
    isFinal = true
    file.checkPlace()
    const warning = log.check()
    const probe = log.checkpointFailure && { failure: log.checkpointFailure }
    return { outcomes: outcomes.map((outcome, i) => (batch[i]?.name === 'probe' && probe) || outcome), warning }
  } catch (error) {
    mustReopen = true
    const isStale = error instanceof StaleFiles
    if (isStale) closeFile()
    return { outcomes: batch.map(() => ({ failure: toFailure(error) })), isStale, isFinal }
  }
}

function commitInPlace(file: OpenFile<Statements>, batch: Write[], lockTimeout: number): Outcome[] {
  const { connection, statements } = file
  const attempt = () => commitTogether(connection, statements.writes, batch, lockTimeout, () => file.refuseChange())
  try {
    return attempt()
  } catch (error) {
    if (!(error instanceof FilesChanged)) throw error
    // Throws unless the change is harmless, such as a checkpoint of another process.
    file.checkPlace()
    return attempt()
  }
}

/** A violated constraint may be one that another release has added. */
function explain(file: OpenFile<Statements>, failure: Failure): Failure {
  try {
    if (violatesConstraint(failure) && !isUpToDate(readJournal(file.connection), readOwnMigrations())) {
      return { code: 'SQLITE_SCHEMA', message: `${otherRelease}: ${failure.message}` }
    }
    return file.explain(failure)
  } catch {
    // The rest of the batch is committed and must not fail because of this.
    return failure
  }
}

/** After a failure, opens the file that is at the path by then. */
function openFile(): OpenFile<Statements> {
  if (file && !mustReopen) return file
  const next = file?.reopen() ?? new OpenFile(path, { readonly: false, prepare })
  closeFile()
  mustReopen = false
  file = next
  return next
}

function prepare(connection: Database.Database) {
  return { writes: prepareWrites(connection), log: new LogWatch(connection) }
}

function closeFile(): void {
  file?.close()
  file = undefined
}
