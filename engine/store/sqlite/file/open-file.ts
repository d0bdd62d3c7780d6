import { lstatSync, renameSync, rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { connect, orClose } from './connection.ts'
import { type Damage, FilesDamaged } from './failure.ts'
import { fileTimestamp, identify, identityOf, realPathOf, sizeOf } from './files.ts'
import { type LogState, openAs, openLogFile } from './log-file.ts'

/** The inode numbers, which are not reused while the files are open. A database without WAL mode has only the first one. */
export interface FileIdentities {
  database: string | undefined
  log: string | undefined
  index: string | undefined
}

/** Milliseconds to wait for readers that prevent the checkpoint of a lost log. */
const checkpointTimeout = 1_000

export type OpenFile = ReturnType<typeof openFile>

/**
 * Opens a prepared database, and detects when its files are deleted, moved, replaced or truncated. SQLite does not: it keeps
 * writing to the old files, and the next start would not find the acknowledged writes.
 *
 * @param options `expected`: the files that another connection of this process has open. All share one index, in memory.
 * @throws {FilesDamaged} if other files are in place, because SQLite would use the index of the open ones for them.
 */
export function openFile(path: string, options: { readonly: boolean; expected?: FileIdentities }) {
  const { readonly, expected } = options
  const realPath = realPathOf(path)
  if (expected) refuse(findLostFile(expected))
  const connection = connect(path, { readonly, busyTimeout: 0 })
  const { identities, logFile } = orClose(connection, () => {
    // The first read creates the log and its index if they are missing. Since then a lock keeps other processes from
    // deleting them.
    connection.pragma('schema_version')
    const [log, index] = [`${realPath}-wal`, `${realPath}-shm`].map(identify)
    const found: FileIdentities = expected ?? { database: identify(path), log, index }
    const descriptor = found.log === undefined ? undefined : openAs(`${realPath}-wal`, found.log)
    return { identities: found, logFile: descriptor === undefined ? undefined : openLogFile(descriptor, connection) }
  })

  function refuse(damage: Damage | undefined): void {
    if (damage) throw new FilesDamaged(damage)
  }

  function findLostFile({ database, log, index }: FileIdentities): Damage | undefined {
    const named = lstatSync(realPath, { bigint: true, throwIfNoEntry: false })
    const isNamed = named !== undefined && identityOf(named) === database
    const isFound = (isNamed && path === realPath) || isInPlace(database)
    if (!isFound) return 'database lost'
    // If the path leads to the database under another name, SQLite names the log after that.
    if (!isNamed || isLost(`${realPath}-wal`, log) || isLost(`${realPath}-shm`, index)) return 'log lost'
    return undefined
  }

  function isInPlace(database: string | undefined): boolean {
    return database !== undefined && identify(path) === database
  }

  /** The log that the next start uses for this database. Undefined if it uses another database. */
  function findNextLog(): string | undefined {
    return isInPlace(identities.database) ? `${realPathOf(path)}-wal` : undefined
  }

  /** Runs no statement, so a transaction can call it, which may have waited for its lock. Throws FilesDamaged. */
  function refuseLostFile(): void {
    refuse(findLostFile(identities))
  }

  return {
    // Otherwise TypeScript cannot name the type in the declarations of the client.
    connection: connection as Database.Database,
    identities,
    refuseLostFile,

    /** Call it after each commit: before it returns, the commit must not be acknowledged. Throws FilesDamaged. */
    refuseDamage(): void {
      refuseLostFile()
      if (logFile?.isIntact() === false) refuse('log truncated')
    },

    /** See {@link openLogFile}. Undefined without a log, as of a database that is not in WAL mode. Throws FilesDamaged. */
    lookAtLog(): LogState | undefined {
      const state = logFile?.look()
      if (logFile && !state) refuse('log truncated')
      return state
    },

    /** Whether the next start finds all commits. */
    isSaved(): boolean {
      const log = findNextLog()
      return log !== undefined && (!isLost(log, identities.log) || logFile?.isUnsaved() === false)
    },

    /** Renames an old copy in the place of the log: SQLite would apply it, and undo later commits. Returns the new path. */
    setAsideOldLog(): string | undefined {
      const log = findNextLog()
      if (log === undefined || identify(log) === undefined || !isLost(log, identities.log)) return undefined
      if (!logFile?.isCopy(log)) return undefined
      const kept = `${log}.old-${fileTimestamp()}`
      renameSync(log, kept)
      return kept
    },

    /**
     * If the next start would not find the log, moves it into the open database, and empties it, so that it changes nothing
     * if it is in the place of the log of another database. Not if another process has begun a log of its own: each has pages
     * that the other one does not know, so the database can follow only one of them.
     */
    saveLostLog(): void {
      const log = findNextLog()
      if (log !== undefined && (!isLost(log, identities.log) || sizeOf(log) > 0)) return
      connection.pragma(`busy_timeout = ${checkpointTimeout}`)
      connection.pragma('wal_checkpoint(TRUNCATE)')
    },

    /** Deletes the index of a database that was deleted or moved. `restore` refuses to run if there is one. */
    deleteIndex(): void {
      const index = `${realPath}-shm`
      const hasName = lstatSync(realPath, { throwIfNoEntry: false }) !== undefined
      if (!hasName && identify(index) === identities.index) rmSync(index, { force: true })
    },

    close(): void {
      if (!connection.open) return
      connection.close()
      logFile?.close()
    },
  }
}

function isLost(path: string, identity: string | undefined): boolean {
  return identity !== undefined && identify(path) !== identity
}
