import { closeSync, fsyncSync, openSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { pendingMigrations } from '../../migrations.ts'
import { checkPages, connect, databaseSize } from '../connection.ts'
import { isBusy, isCorrupt, toFailure } from '../failure.ts'
import { giveIdentity, refuseForeignFile } from '../header.ts'
import { readJournal, readOwnMigrations } from '../migrate.ts'
import { attempt, copyFailure } from './copy-failure.ts'

export interface CopyRequest {
  /** A database of ours; other processes may read and write it meanwhile. */
  source: string
  /** The file to make. */
  target: string
  /** Whether the source may be on a medium that cannot be written; else SQLite tidies up its log where nobody else has it open. */
  isSourceReadonly: boolean
}

export type CopyStep = 'check' | 'copy' | 'check copy'

/**
 * Copies a database as it is at one moment, checks the copy, and waits until it is on disk. The copy is one file that
 * needs none beside it, whatever log the source has. This blocks for as long as the database is large: it is for a thread.
 *
 * @param onStep is told what begins, and the source's size in bytes.
 * @throws {CopyFailed}
 */
export function copyDatabase(request: CopyRequest, onStep: (step: CopyStep, total: number) => void): void {
  const connection = attempt('source', () => openOurs(request.source, request.isSourceReadonly))
  try {
    const total = attempt('source', () => databaseSize(connection))
    onStep('check', total)
    attempt('source', () => check(connection))
    onStep('copy', total)
    writeCopy(connection, request.target, () => onStep('check copy', total))
  } finally {
    connection.close()
  }
}

/** The file is made before SQLite writes to it, so that at no time another user can read it. */
function writeCopy(connection: Database.Database, target: string, onWritten: () => void): void {
  const file = attempt('target', () => openSync(target, 'wx', 0o600))
  try {
    vacuumInto(connection, target)
    attempt('target', () => identifyCopy(target))
    onWritten()
    attempt('target', () => checkCopy(target))
    attempt('target', () => fsyncSync(file))
  } finally {
    closeSync(file)
  }
}

function vacuumInto(connection: Database.Database, target: string): void {
  try {
    connection.prepare('VACUUM INTO ?').run(target)
  } catch (error) {
    const failure = toFailure(error)
    throw copyFailure(isCorrupt(failure) || isBusy(failure) ? 'source' : 'target', error)
  }
}

/** The service then notices when the copy is written over its database. */
function identifyCopy(path: string): void {
  const copy = connect(path, { busyTimeout: 5_000 })
  try {
    giveIdentity(copy)
  } finally {
    copy.close()
  }
}

function checkCopy(path: string): void {
  const copy = openOurs(path, true)
  try {
    check(copy)
  } finally {
    copy.close()
  }
}

function openOurs(path: string, readonly: boolean): Database.Database {
  refuseForeignFile(path)
  return connect(path, { readonly, busyTimeout: 5_000 })
}

function check(connection: Database.Database): void {
  pendingMigrations(readJournal(connection), readOwnMigrations(), connection.name)
  checkPages(connection, 'integrity_check')
}
