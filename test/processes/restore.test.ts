import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { definition } from '../../db/store.ts'
import { verify } from '../../engine/service/commands/backup.ts'
import { restoreDatabase } from '../../engine/store/sqlite/backup/restore.ts'
import { auditLinesIn, notesIn } from '../../engine/test/support/log-lines.ts'
import { runCommand, waitForOutput } from '../../engine/test/support/process.ts'
import { change, contentsOf, leaveLog, overwrite } from '../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import {
  addingRows,
  filesIn,
  keptIn,
  makeBackup,
  makeDatabase,
  onSqlite,
  restore,
  runToEnd,
  textsIn,
  unfitFiles,
} from '../support/petstore.ts'

describe('the restore command', () => {
  test('replaces the database, keeps the old one, and says so', async () => {
    const { folder, database, backup } = await makeBackup()
    change(database, addingRows(2, 'later'))
    const run = await runToEnd({ folder, arguments: ['restore', backup] })
    const [kept = ''] = keptIn(folder)
    expect(notesIn(run.stderr)).toBe(`Restored ${database} from ${backup}; the old database is now ${kept}.\n`)
    expect(auditLinesIn(run.stderr)).toMatchObject([
      { action: 'database.restore', subject: database, from: backup, kept },
    ])
    expect(run.stdout).toBe('')
    expect(textsIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(textsIn(kept)).toEqual(['pet 1', 'pet 2', 'pet 3', 'later 1', 'later 2'])
    expect(statSync(database).mode & 0o777).toBe(0o600)
    expect(statSync(kept).mode & 0o777).toBe(0o600)
  })
})

describe('a restore', () => {
  test('creates a database where there is none', async () => {
    const { backup } = await makeBackup()
    const folder = temporaryFolder()
    expect(await restore(folder, backup)).toBeUndefined()
    expect(textsIn(join(folder, 'data/petstore.db'))).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
  })

  test('keeps the commits that are only in the log of a killed process, and leaves no log', async () => {
    const { folder, database, backup } = await makeBackup()
    leaveLog(database, addingRows(1, 'logged'))
    await restore(folder, backup)
    expect(filesIn(folder)).toEqual(['backups', 'petstore.db', expect.stringMatching(/before-restore-[\dTZ.-]+$/)])
    expect(textsIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(textsIn(keptIn(folder)[0] ?? '')).toEqual(['pet 1', 'pet 2', 'pet 3', 'logged 1'])
  })

  test.for([
    ['whose first page is destroyed', 0],
    ['whose tables cannot be read', 100],
  ] as const)('replaces a database %s, and keeps it with its log', async ([, start]) => {
    const { folder, database, backup } = await makeBackup()
    leaveLog(database, addingRows(1, 'logged'))
    for (const suffix of ['-wal', '-shm']) renameSync(database + suffix, join(folder, suffix))
    overwrite(database, start, 4096 - start)
    for (const suffix of ['-wal', '-shm']) renameSync(join(folder, suffix), database + suffix)
    await restore(folder, backup)
    expect(textsIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(keptIn(folder).some((file) => readFileSync(file).includes('logged 1'))).toBe(true)
    expect(existsSync(`${database}-shm`)).toBe(false)
  })

  test('does not apply the log of a missing database to the new one', async () => {
    const { folder, database, backup } = await makeBackup()
    leaveLog(database, addingRows(1, 'logged'))
    rmSync(database)
    rmSync(`${database}-shm`)
    await restore(folder, backup)
    expect(textsIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(keptIn(folder)).toEqual([expect.stringMatching(/-wal$/)])
  })

  test('removes the second name of the database that a killed restore left', async () => {
    const { folder, database, backup } = await makeBackup()
    linkSync(database, `${database}.before-restore-2026-11-21T043000.123Z`)
    await restore(folder, backup)
    expect(keptIn(folder).length).toBe(1)
  })

  test('follows a symbolic link to the database', async () => {
    const { folder, database, backup } = await makeBackup()
    mkdirSync(join(folder, 'elsewhere'))
    renameSync(database, join(folder, 'elsewhere/pets.db'))
    symlinkSync('../elsewhere/pets.db', database)
    change(database, addingRows(1, 'later'))
    await restore(folder, backup)
    expect(textsIn(join(folder, 'elsewhere/pets.db'))).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(textsIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
  })

  test('creates the missing target of a symbolic link, and its folder', async () => {
    const { folder, database, backup } = await makeBackup()
    rmSync(database)
    symlinkSync('../elsewhere/pets.db', database)
    await restore(folder, backup)
    expect(textsIn(join(folder, 'elsewhere/pets.db'))).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(lstatSync(database).isSymbolicLink()).toBe(true)
  })

  test('keeps other processes out from its beginning to its end', async () => {
    const { database, backup } = await makeBackup()
    const other = new Database(database, { timeout: 0 })
    onTestFinished(() => void other.close())
    let attempts = 0
    await restoreDatabase(database, onSqlite, backup, {
      onProgress() {
        attempts++
        expect(() => other.prepare('SELECT * FROM pets').get()).toThrow('database is locked')
      },
    })
    expect(attempts).toBeGreaterThan(1)
    expect(textsIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
  })
})

describe('the checksum of a backup', () => {
  test('reveals two changed bytes that SQLite does not notice', async () => {
    const { folder, backup } = await makeBackup()
    // The index of the names has lower case only.
    replaceText(backup, 'pet 2', 'PEt 2')
    await expect(verify(definition, backup)).rejects.toThrow('it does not match its checksum')
    await expectRefusal(
      folder,
      backup,
      `The database ${backup} cannot be used: it does not match its checksum ${backup}.sha256, so it has changed since it was made; restore another backup, or delete that checksum to restore this one anyway.`,
    )
    rmSync(`${backup}.sha256`)
    await restore(folder, backup)
    expect(textsIn(join(folder, 'data/petstore.db'))).toEqual(['pet 1', 'PEt 2', 'pet 3'])
  })

  test.for(['', 'no checksum', `${'0'.repeat(64)}  petstore.db\n`])('is refused if it is %j', async (text) => {
    const { folder, backup } = await makeBackup()
    writeFileSync(`${backup}.sha256`, text)
    await expectRefusal(folder, backup, 'it does not match its checksum')
  })

  test('may have been written by sha256sum under another name, or in its binary mode', async () => {
    const { folder, backup } = await makeBackup()
    const moved = join(folder, 'moved.db')
    renameSync(backup, moved)
    const checksum = readFileSync(`${backup}.sha256`, 'utf8')
    writeFileSync(`${moved}.sha256`, checksum.toUpperCase().replace('  ', ' *'))
    expect((await restoreDatabase(join(folder, 'data/petstore.db'), onSqlite, moved)).isVerified).toBe(true)
  })

  test('is missing beside a backup of an earlier release, which is restored with a note', async () => {
    const { folder, database, backup } = await makeBackup()
    rmSync(`${backup}.sha256`)
    const run = await runToEnd({ folder, arguments: ['restore', backup] })
    expect(notesIn(run.stderr)).toBe(
      `There is no checksum ${backup}.sha256, so it is unknown whether the backup has changed since it was made.\nRestored ${database} from ${backup}; the old database is now ${keptIn(folder)[0]}.\n`,
    )
  })
})

/** Changes bytes inside a text of the database, which leaves its pages intact. */
function replaceText(path: string, from: string, to: string): void {
  const bytes = readFileSync(path)
  bytes.write(to, bytes.indexOf(from))
  writeFileSync(path, bytes)
}

describe('a restore is refused and changes nothing', () => {
  test.for(unfitFiles)('if the backup is %s, which verify refuses, too', async ([, make, message]) => {
    const { folder } = await makeBackup()
    const file = join(folder, 'unfit.db')
    make(file)
    const refusal = `The database ${file} cannot be used: ${message}`
    await expectRefusal(folder, file, refusal, () => verify(definition, file))
    await expectRefusal(folder, file, refusal)
  })

  test('if the backup is the database itself', async () => {
    const { folder, database } = await makeBackup()
    await expectRefusal(folder, database, 'it is the database itself; choose a backup of it')
  })

  test('if the database belongs to another program', async () => {
    const { folder, database, backup } = await makeBackup()
    rmSync(database)
    change(database, 'CREATE TABLE diary (x)')
    await expectRefusal(folder, backup, `The database ${database} cannot be used: it belongs to another program`)
  })

  test.for([0, 100])(
    'while another process has the database open, also if it is destroyed from byte %i on',
    async (start) => {
      const { folder, database, backup } = await makeBackup()
      leaveLog(database, addingRows(1, 'logged'))
      const end = await holdOpen(database)
      await expectRefusal(folder, backup, 'a process has it open; stop the service and try again')
      overwrite(database, start, 4096 - start)
      await expectRefusal(folder, backup, 'a process has it open; stop the service and try again')
      await end()
      await restore(folder, backup)
    },
  )

  test.for([
    ['deleted', (path: string) => rmSync(path)],
    ['destroyed from its first page on, and whose log is empty', (path: string) => overwrite(path, 0, 4096)],
  ] as const)('while a process may have a database open that is %s', async ([, damage]) => {
    const { folder, database, backup } = await makeBackup()
    const end = await holdOpen(database)
    damage(database)
    await expectRefusal(folder, backup, `stop the service, delete ${database}-shm and try again`)
    await end()
    rmSync(`${database}-shm`)
    await restore(folder, backup)
  })

  test('if a process creates the missing database while the backup is copied', async () => {
    const { database, backup } = await makeBackup()
    rmSync(database)
    const restored = restoreDatabase(database, onSqlite, backup, {
      onProgress({ done, total }) {
        if (done < total) return
        makeDatabase(database, 1, 'new')
        const service = new Database(database)
        onTestFinished(() => void service.close())
        service.prepare('SELECT * FROM pets').get()
      },
    })
    await expect(restored).rejects.toThrow('a process has it open; stop the service and try again')
    expect(textsIn(database)).toEqual(['new 1'])
  })
})

async function expectRefusal(
  folder: string,
  file: string,
  message: string,
  use: () => Promise<unknown> = () => restore(folder, file),
): Promise<void> {
  const before = contentsOf(folder)
  await expect(use()).rejects.toThrow(message)
  expect(contentsOf(folder)).toEqual(before)
}

/** Starts a process that reads the database and keeps it open. Returns a function that ends the process. */
async function holdOpen(path: string): Promise<() => Promise<void>> {
  const script = `
    const database = new (require('better-sqlite3'))(${JSON.stringify(path)}, { readonly: true })
    console.log(database.prepare('SELECT count(*) FROM pets').pluck().get())
    setInterval(() => {}, 1_000)`
  const run = runCommand([process.execPath, '-e', script], { folder: import.meta.dirname })
  await waitForOutput(run, /(\d+)/)
  return async () => {
    run.child.kill('SIGKILL')
    await run.ended
  }
}
