import { parentPort, workerData } from 'node:worker_threads'
import { isUpToDate } from '../migrations.ts'
import { orClose } from './connection.ts'
import { type Failure, toFailure, violatesConstraint } from './failure.ts'
import { LogWatch } from './log-watch.ts'
import { readJournal } from './migrate.ts'
import { FilesChanged, OpenFile, StaleFiles } from './open-file.ts'
import { readOwnMigrations } from './own-migrations.ts'
import type { WriterOptions } from './writer.ts'
import { type Batch, commitTogether, type Outcome, prepareWrites, type Settled, type Writes } from './writes.ts'

/** The thread that owns the only connection that writes. It answers each batch once it is on disk. */

const port = parentPort
if (!port) throw new Error('The writer runs in a thread of its own.')

const { path }: Pick<WriterOptions, 'path'> = workerData
let file: OpenFile | undefined
let open: { writes: Writes; log: LogWatch } | undefined

port.on('message', (message: Batch | 'close') => {
  if (message !== 'close') return port.postMessage(answer(message))
  file?.close()
  port.close()
})

/** Nothing is acknowledged that went into a file which is no longer in its place: the next batch opens the one that is. */
function answer({ batch, patience }: Batch): Settled {
  try {
    const { file, writes, log } = prepare()
    const outcomes = commitInPlace(file, writes, batch, patience).map((outcome) =>
      'failure' in outcome ? { failure: explain(file, outcome.failure) } : outcome,
    )
    file.checkPlace()
    const warning = log.check()
    const probe = log.checkpointFailure && { failure: log.checkpointFailure }
    return { outcomes: outcomes.map((outcome, i) => (batch[i]?.name === 'probe' && probe) || outcome), warning }
  } catch (error) {
    open = undefined
    const isStale = error instanceof StaleFiles
    if (isStale) closeFile()
    return { outcomes: batch.map(() => ({ failure: toFailure(error) })), isStale }
  }
}

function commitInPlace(file: OpenFile, writes: Writes, batch: Batch['batch'], patience: number): Outcome[] {
  const commit = () => commitTogether(file.connection, writes, batch, patience, () => file.refuseChange())
  try {
    return commit()
  } catch (error) {
    if (!(error instanceof FilesChanged)) throw error
    // Throws unless the change is harmless, such as a checkpoint of another process.
    file.checkPlace()
    return commit()
  }
}

/** Another release may have added a column or a rule that this one does not know. */
function explain(file: OpenFile, failure: Failure): Failure {
  try {
    if (violatesConstraint(failure) && !isUpToDate(readJournal(file.connection), readOwnMigrations())) {
      return { code: 'SQLITE_SCHEMA', message: `Another release has migrated the database: ${failure.message}` }
    }
    return file.explain(failure)
  } catch {
    // The rest of the batch is committed already, and must not fail with this.
    return failure
  }
}

function prepare(): { file: OpenFile; writes: Writes; log: LogWatch } {
  if (!file || !open) {
    const next = file?.reopen() ?? new OpenFile(path, { readonly: false })
    open = orClose(next, () => ({ writes: prepareWrites(next.connection), log: new LogWatch(next.connection) }))
    closeFile()
    file = next
  }
  return { file, ...open }
}

function closeFile(): void {
  file?.close()
  file = undefined
}
