import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { unusable } from '../sqlite/diagnosis/diagnosis.ts'
import { connect, using } from '../sqlite/file/connection.ts'
import { realPathOf } from '../sqlite/file/files.ts'
import { openToInspect } from './sqlite.ts'

/**
 * A program that takes the write lock of an SQLite database and syncs a file beside it. It prints `ok`, or what is wrong. It is
 * not killed if the disk hangs, so that it removes its file when the disk responds again.
 */

/** Milliseconds to wait for the lock. The service holds it only for the time of a commit. */
const busyTimeout = 2_000

const [, , path = ''] = process.argv
try {
  // Stays open until the end: a connection that can write would otherwise be the last one, and SQLite then removes the log.
  const reader = openToInspect(path)
  if (reader) {
    takeLock()
    syncFile(`${realPathOf(path)}-doctor-${process.pid}.partial`)
    reader.close()
  }
  process.stdout.write('ok')
} catch (error) {
  process.stdout.write(unusable(path, error).message)
}

function takeLock(): void {
  using(connect(path, { busyTimeout }), (connection) => connection.exec('BEGIN IMMEDIATE; ROLLBACK'))
}

function syncFile(name: string): void {
  const file = openSync(name, 'wx', 0o600)
  try {
    writeSync(file, 'petstore doctor')
    fsyncSync(file)
  } finally {
    closeSync(file)
    rmSync(name)
  }
}
