import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import { isUpToDate, otherRelease } from '../../migrations.ts'
import type { Loaded } from '../../resource.ts'
import type { TransactionTimes } from '../../store.ts'
import { findFullDisk } from '../diagnosis/diagnosis.ts'
import { type Failure, toFailure, violatesConstraint } from '../file/failure.ts'
import { HeaderWatch } from '../file/header.ts'
import { readJournal } from '../migrate.ts'
import { type Damage, DamagedFiles, FilesChanged, OpenFile } from '../recovery/open-file.ts'
import type { SqliteResource } from '../resource.ts'
import { LogWatch } from './log-watch.ts'
import { commitTogether, type Outcome } from './transaction.ts'
import { prepareWrites, probeWrite, type Write } from './writes.ts'

/** The thread that owns the only connection that writes. It replies to each batch once it is on disk. */

/** A message to the writer thread. */
export type Order =
  | Write
  /** Closes the files, unless the log is lost and cannot be saved yet. All writes fail until the next permission. */
  | 'release'
  | Permission
  | 'close'

/** Permits to open the files at the path. */
export interface Permission {
  /** Of the database, for {@link HeaderWatch}. */
  headerDescriptor: number
}

/** The reply of the writer thread to each batch of writes, once its transaction is on disk, and to `release`. */
export interface Settled {
  /** Of the oldest writes without a reply, in their order. */
  outcomes: Outcome[]
  /** Of the transaction, if it was committed and somebody observes the writer. */
  times?: TransactionTimes | undefined
  /** A sentence for the operator. */
  warning?: string | undefined
  /** Set by `release`, and when the thread has closed damaged files by itself. */
  release?: Release
}

export interface Release {
  /** Whether the thread has closed the files. All connections of the process must be closed before it opens them again. */
  isClosed: boolean
  /** Whether it is the reply to the order `release`. */
  isReply?: boolean
  damage?: Damage
}

/** The `workerData` of the thread. */
export interface WriterData {
  writerPath: string
  /** Milliseconds to wait for another process's lock. */
  lockTimeout: number
  /** The address of the module with the list of resources. */
  resources: string
  /** Shared: how many of the writes that this thread was sent must not be performed any more. */
  rejectedCount: BigInt64Array
  /** Whether to measure transactions. */
  isObserved: boolean
}

type Statements = ReturnType<typeof prepare>

function prepare(connection: Database.Database) {
  return { writes: prepareWrites(connection, loaded.resources), log: new LogWatch(connection) }
}

let file: OpenFile<Statements> | undefined
let header: HeaderWatch | undefined
/** Why the files are closed, until the next permission to open them. */
let closedFor: unknown

const { writerPath, lockTimeout, resources, rejectedCount, isObserved }: WriterData = workerData
const { resources: list }: { resources: { forSqlite(): Promise<Loaded<SqliteResource>> } } = await import(resources)
const loaded = await list.forSqlite()
if (parentPort) serve(parentPort, writerPath, rejectedCount)

/** Group commit: the writes that have arrived during a transaction form the next one, so one fsync serves them all. */
function serve(port: MessagePort, path: string, rejectedCount: BigInt64Array): void {
  let received = 0
  port.on('message', (first: Order) => {
    const batch: Write[] = []
    let message: Order | undefined = first
    for (; Array.isArray(message); message = receiveMessageOnPort(port)?.message) batch.push(message)
    const rejected = Number(Atomics.load(rejectedCount, 0)) - received
    received += batch.length
    if (batch.length > 0) {
      port.postMessage(commitUnrejected(path, batch, rejected))
      const note = checkpoint()
      if (note) port.postMessage(note)
    }
    if (message === undefined) return
    if (message === 'release') {
      port.postMessage({ outcomes: [], release: { ...release(), isReply: true } } satisfies Settled)
    } else if (message === 'close') {
      closeFile()
      port.close()
    } else if (!Array.isArray(message)) open(message.headerDescriptor)
  })
}

/** After the reply, so that no response waits for it. */
function checkpoint(): Settled | undefined {
  try {
    const warning = file?.statements.log.checkpoint(() => {
      if (file?.isOverwritten()) throw new DamagedFiles('database overwritten')
    })
    return warning === undefined ? undefined : { outcomes: [], warning }
  } catch (error) {
    return error instanceof DamagedFiles ? { outcomes: [], release: closeDamaged(error) } : undefined
  }
}

function open(headerDescriptor: number): void {
  try {
    header = new HeaderWatch(headerDescriptor)
    closedFor = undefined
  } catch (error) {
    closedFor = error
  }
}

function release(): Release {
  const reopening = new FilesChanged('The files of the database are being opened again. Try again shortly.')
  if (!file) {
    closedFor ??= reopening
    return { isClosed: true }
  }
  try {
    file.check()
    closedFor = reopening
    closeFile()
    return { isClosed: true }
  } catch (error) {
    return error instanceof DamagedFiles ? closeDamaged(error) : { isClosed: false }
  }
}

/** The event loop still has the database open, so SQLite neither checkpoints the log nor deletes it. */
function closeDamaged(error: DamagedFiles): Release {
  closedFor = error
  closeFile()
  return { isClosed: true, damage: error.damage }
}

/** Skips the first writes of the batch, up to this number. */
function commitUnrejected(path: string, batch: Write[], rejected: number): Settled {
  if (rejected <= 0) return commit(path, batch)
  const skipped = batch.slice(0, rejected).map(() => ({ failure: { code: 'SQLITE_INTERRUPT', message: 'rejected' } }))
  const { outcomes, ...reply } = commit(path, batch.slice(rejected))
  return { ...reply, outcomes: [...skipped, ...outcomes] }
}

/** Checks after the commit that the files are still in their places. If not, the whole batch fails. */
function commit(path: string, batch: Write[]): Settled {
  const stopwatch = isObserved ? new Stopwatch() : undefined
  try {
    const file = openFile(path)
    const { log } = file.statements
    const outcomes = commitInPlace(file, batch, stopwatch).map((outcome) =>
      'failure' in outcome ? { failure: explain(path, file, outcome.failure) } : outcome,
    )
    file.confirmCommit()
    log.publishReadMark()
    const probe = log.checkpointFailure && { failure: log.checkpointFailure }
    return {
      outcomes: outcomes.map((outcome, i) => (batch[i]?.[0] === probeWrite && probe) || outcome),
      times: stopwatch?.times,
    }
  } catch (error) {
    const failure = findFullDisk(path, toFailure(error))
    const outcomes = batch.map(() => ({ failure }))
    const isNew = error instanceof DamagedFiles && error !== closedFor
    return isNew ? { outcomes, release: closeDamaged(error) } : { outcomes }
  }
}

/** Measures one transaction. It has no times until the transaction is committed. */
class Stopwatch {
  times: TransactionTimes | undefined
  readonly #startedAt = performance.now()
  #committingAt = 0

  onCommit(): void {
    this.#committingAt = performance.now()
  }

  onCommitted(): void {
    this.times = { startedAt: this.#startedAt, committingAt: this.#committingAt, committedAt: performance.now() }
  }
}

function commitInPlace(file: OpenFile<Statements>, batch: Write[], stopwatch: Stopwatch | undefined): Outcome[] {
  const { connection, statements } = file
  const events = {
    onBegin: () => file.refuseChange(),
    onCommit: () => stopwatch?.onCommit(),
    onCommitted: () => stopwatch?.onCommitted(),
  }
  const attempt = () => commitTogether(connection, statements.writes, batch, lockTimeout, events)
  try {
    return attempt()
  } catch (error) {
    if (!(error instanceof FilesChanged)) throw error
    // Throws unless the change is harmless, such as a checkpoint of another process.
    file.check()
    return attempt()
  }
}

/** A violated constraint may be one that another release has added. */
function explain(path: string, file: OpenFile<Statements>, failure: Failure): Failure {
  try {
    if (violatesConstraint(failure) && !isUpToDate(readJournal(file.connection), loaded.migrations)) {
      return { code: 'SQLITE_SCHEMA', message: otherRelease }
    }
    return findFullDisk(path, failure)
  } catch {
    // The rest of the batch is committed and must not fail because of this.
    return failure
  }
}

function openFile(path: string): OpenFile<Statements> {
  if (closedFor) throw closedFor
  if (header && !header.isFor(path)) throw new DamagedFiles('database lost')
  file ??= new OpenFile(path, { readonly: false, prepare, header })
  return file
}

function closeFile(): void {
  file?.close()
  file = undefined
}
