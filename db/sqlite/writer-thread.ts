import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import { and, eq, isNull, ne } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { isUpToDate, otherRelease } from '../migrations.ts'
import {
  type ApiKey,
  IdsExhausted,
  importerHash,
  KeyRevoked,
  type NewApiKey,
  type PetStatus,
  type TransactionTimes,
} from '../store.ts'
import { retryWhileBusy } from './connection.ts'
import { findFullDisk } from './diagnosis/diagnosis.ts'
import { concernsDatabase, type Failure, toFailure, violatesConstraint } from './failure.ts'
import { HeaderWatch } from './header.ts'
import { prepareCreateOnce } from './idempotency.ts'
import { LogWatch } from './log-watch.ts'
import { readJournal, readOwnMigrations } from './migrate.ts'
import { type Damage, DamagedFiles, FilesChanged, OpenFile } from './open-file.ts'
import { apiKeys } from './schema.ts'

/**
 * The thread that owns the only connection that writes: the statements, their transaction, and the reply to each batch
 * once it is on disk.
 */

export type Writes = ReturnType<typeof prepareWrites>

/** A call of one of the {@link Writes}, as it is sent to the writer thread: a flat array is copied faster than an object. */
export type Write = { [Name in keyof Writes]: [name: Name, ...args: Parameters<Writes[Name]>] }[keyof Writes]

export type Outcome = { value: unknown } | { failure: Failure }

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
  /** Shared: how many of the writes that this thread was sent must not be performed any more. */
  rejectedCount: BigInt64Array
  /** Whether to measure transactions. */
  isObserved: boolean
}

const maxId = 2n ** 63n - 1n

type Statements = ReturnType<typeof prepare>

function prepare(connection: Database.Database) {
  return { writes: prepareWrites(connection), log: new LogWatch(connection) }
}

let file: OpenFile<Statements> | undefined
let header: HeaderWatch | undefined
/** Why the files are closed, until the next permission to open them. */
let closedFor: unknown

// Tests and benchmarks import the statements without the thread.
const { writerPath, lockTimeout = 0, rejectedCount, isObserved = false }: Partial<WriterData> = workerData ?? {}
if (parentPort && writerPath !== undefined && rejectedCount) serve(parentPort, writerPath, rejectedCount)

/** Group commit: the writes that have arrived during a transaction form the next one, so one fsync serves them all. */
function serve(port: MessagePort, path: string, rejectedCount: BigInt64Array): void {
  let received = 0
  // The thread is ready.
  port.postMessage({ outcomes: [] } satisfies Settled)
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
      outcomes: outcomes.map((outcome, i) => (batch[i]?.[0] === 'probe' && probe) || outcome),
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
  const events: TransactionEvents = {
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
    if (violatesConstraint(failure) && !isUpToDate(readJournal(file.connection), readOwnMigrations())) {
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

interface TransactionEvents {
  /** Called when the transaction has its lock. */
  onBegin?: () => void
  /** Called before the COMMIT. */
  onCommit?: () => void
  onCommitted?: () => void
}

/**
 * Runs the writes in one transaction with one fsync, and returns their outcomes in order once the transaction is on disk.
 * A write that violates a constraint fails alone. A failure of the database or of the commit rolls back and fails all.
 *
 * @param lockTimeout milliseconds to wait for another process's lock.
 * @throws {FilesChanged} if `onBegin` does. Nothing is written then.
 */
export function commitTogether(
  connection: Database.Database,
  writes: Writes,
  batch: Write[],
  lockTimeout = 0,
  { onBegin, onCommit, onCommitted }: TransactionEvents = {},
): Outcome[] {
  const commit = connection.transaction(() => {
    onBegin?.()
    const outcomes = batch.map((write) => perform(writes, write))
    onCommit?.()
    return outcomes
  })
  try {
    const outcomes = retryWhileBusy(lockTimeout, () => commit.immediate())
    onCommitted?.()
    return outcomes
  } catch (error) {
    if (error instanceof FilesChanged) throw error
    return batch.map(() => ({ failure: toFailure(error) }))
  }
}

function perform(writes: Writes, [name, ...args]: Write): Outcome {
  try {
    // Safe, because name and arguments come from one Write, whose type pairs them.
    return { value: (writes[name] as (...args: unknown[]) => unknown)(...args) }
  } catch (error) {
    const failure = toFailure(error)
    if (concernsDatabase(failure)) throw error
    return { failure }
  }
}

/** Prepares every statement that writes. They always run inside the transaction of {@link commitTogether}. */
export function prepareWrites(connection: Database.Database) {
  const db = drizzle({ client: connection })
  // Without an id left, SQLite would report a full disk (SQLITE_FULL) and roll back the whole transaction.
  const insertPet = connection.prepare<[name: string, categoryId: bigint, status: PetStatus]>(`
    INSERT INTO pets (name, category_id, status) SELECT ?, ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets' AND seq >= ${maxId})
  `)

  function createPet(name: string, categoryId: bigint, status: PetStatus): bigint {
    const { changes, lastInsertRowid } = insertPet.run(name, categoryId, status)
    if (changes === 0)
      throw new IdsExhausted(
        'The table pets has no id left. Give its row with the greatest id a lower one, and lower its id in sqlite_sequence.',
      )
    // Safe, because the connection reads integers as bigint.
    return lastInsertRowid as bigint
  }

  const createAndUndo = connection.transaction(() => {
    createPet('probe', 0n, 'available')
    throw new Undo()
  })

  function createApiKey(key: NewApiKey): ApiKey {
    return db.insert(apiKeys).values(key).returning().get()
  }

  function revokeApiKey(id: bigint, revokedAt: Date): void {
    const unrevoked = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt))
    const { changes } = db.update(apiKeys).set({ revokedAt }).where(unrevoked).run()
    if (changes === 0) throw new KeyRevoked('The API key was revoked meanwhile.')
  }

  return {
    createPet,
    createPetOnce: prepareCreateOnce(db, createPet),
    createApiKey,
    createFirstApiKey(key: NewApiKey): boolean {
      if (db.select().from(apiKeys).where(ne(apiKeys.hash, importerHash)).limit(1).get()) return false
      createApiKey(key)
      return true
    },
    registerApiKey: (key: NewApiKey): boolean =>
      db.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.hash }).run().changes > 0,
    revokeApiKey,
    rotateApiKey: (id: bigint, successor: NewApiKey): ApiKey =>
      db.transaction(() => {
        revokeApiKey(id, successor.createdAt)
        return createApiKey(successor)
      }),
    touchApiKey(id: bigint, lastUsedAt: Date): void {
      db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id)).run()
    },
    /** Writes the same pages as a create. SQLite commits them, although the savepoint rolls back their content. */
    probe(): void {
      connection.pragma(`user_version = ${connection.pragma('user_version', { simple: true })}`)
      try {
        createAndUndo()
      } catch (error) {
        if (!(error instanceof Undo || error instanceof IdsExhausted)) throw error
      }
    },
  }
}

class Undo extends Error {}
