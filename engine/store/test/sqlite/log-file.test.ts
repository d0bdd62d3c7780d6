import { openSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../test/support/database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { openLogFile } from '../../sqlite/file/log-file.ts'

test('a log stays intact across commits, checkpoints and a new beginning', () => {
  const { connection, log } = openLog()
  for (let i = 0; i < 10; i++) {
    connection.exec(`INSERT INTO numbers VALUES (${i})`)
    expect(log.isIntact()).toBe(true)
    if (i % 3 === 0) connection.pragma(`wal_checkpoint(${i === 6 ? 'TRUNCATE' : 'RESTART'})`)
    if (i % 2 === 0) expect(log.look()).toBeDefined()
  }
})

test('a truncation is found before the next commit counts, whether the look after a commit sees it or not', () => {
  for (const looksBefore of [true, false]) {
    for (const looksAfter of [true, false]) {
      const { connection, log, path } = openLog()
      connection.exec('INSERT INTO numbers VALUES (1)')
      log.look()
      const { size } = statSync(path)
      connection.exec('INSERT INTO numbers VALUES (2)')
      expect(log.isIntact()).toBe(true)
      if (looksBefore) log.look()
      // Cuts the frames of the last commit, or all of them if no look has noted that commit.
      truncateSync(path, looksBefore || looksAfter ? size : 0)
      if (looksAfter) expect(log.look()).toBeUndefined()
      connection.exec('INSERT INTO numbers VALUES (3)')
      expect(log.isIntact(), `${looksBefore} ${looksAfter}`).toBe(false)
    }
  }
})

function openLog() {
  const file = join(temporaryFolder(), 'numbers.db')
  const connection = openDatabase(file)
  connection.exec('PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER)')
  const path = `${file}-wal`
  const log = openLogFile(openSync(path, 'r'), connection)
  onTestFinished(() => log.close())
  return { connection, log, path }
}
