import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
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
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bannerKey, type Run, runPetstore, startServer, waitForOutput } from '../support/process.ts'
import {
  addingPets,
  change,
  filesIn,
  keptIn,
  leaveLog,
  makeBackup,
  namesIn,
  overwrite,
  restore,
  unfitFiles,
} from '../support/sample-database.ts'
import { temporaryFolder } from '../support/temporary.ts'

describe('a restore', () => {
  test('replaces the database, keeps what was there, and says so', async () => {
    const { folder, database, backup } = await makeBackup()
    change(database, addingPets(2, 'later'))
    const run = runPetstore({ folder, arguments: ['restore', backup] })
    expect(await run.ended).toBe(0)
    const [kept = ''] = keptIn(folder)
    expect(run.stderr).toBe(`Restored ${database} from ${backup}; what was there before is now ${kept}.\n`)
    expect(run.stdout).toBe('')
    expect(namesIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(namesIn(kept)).toEqual(['pet 1', 'pet 2', 'pet 3', 'later 1', 'later 2'])
    expect(statSync(database).mode & 0o777).toBe(0o600)
    expect(statSync(kept).mode & 0o777).toBe(0o600)
  })

  test('can be undone by restoring what was kept', async () => {
    const { folder, database, backup } = await makeBackup()
    change(database, addingPets(1, 'later'))
    await restore(folder, backup)
    const [kept = ''] = keptIn(folder)
    await restore(folder, kept)
    expect(namesIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3', 'later 1'])
  })

  test('makes a database where there is none', async () => {
    const { backup } = await makeBackup()
    const folder = temporaryFolder()
    expect(await restore(folder, backup)).toBe(`Restored ${join(folder, 'data/petstore.db')} from ${backup}.\n`)
    expect(namesIn(join(folder, 'data/petstore.db'))).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
  })

  test('keeps what the log of a killed process holds, and leaves no log', async () => {
    const { folder, database, backup } = await makeBackup()
    leaveLog(database, addingPets(1, 'logged'))
    await restore(folder, backup)
    expect(filesIn(folder)).toEqual(['backups', 'petstore.db', expect.stringContaining('before-restore')])
    expect(namesIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(namesIn(keptIn(folder)[0] ?? '')).toEqual(['pet 1', 'pet 2', 'pet 3', 'logged 1'])
  })

  test.for([
    ['whose first page is destroyed', 0],
    ['whose tables cannot be read', 100],
  ] as const)('replaces a database %s, and keeps it with its log', async ([, start]) => {
    const { folder, database, backup } = await makeBackup()
    leaveLog(database, addingPets(1, 'logged'))
    for (const suffix of ['-wal', '-shm']) renameSync(database + suffix, join(folder, suffix))
    overwrite(database, start, 4096 - start)
    for (const suffix of ['-wal', '-shm']) renameSync(join(folder, suffix), database + suffix)
    await restore(folder, backup)
    expect(namesIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(keptIn(folder).some((file) => readFileSync(file).includes('logged 1'))).toBe(true)
    expect(existsSync(`${database}-shm`)).toBe(false)
  })

  test('is not spoilt by the log of a database that is gone', async () => {
    const { folder, database, backup } = await makeBackup()
    leaveLog(database, addingPets(1, 'logged'))
    rmSync(database)
    rmSync(`${database}-shm`)
    await restore(folder, backup)
    expect(namesIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(keptIn(folder)).toEqual([expect.stringMatching(/-wal$/)])
  })

  test('removes the second name that a killed one gave to the database, which changes under both', async () => {
    const { folder, database, backup } = await makeBackup()
    linkSync(database, `${database}.before-restore-2026-11-21T043000.123Z`)
    await restore(folder, backup)
    expect(keptIn(folder).length).toBe(1)
  })

  test('follows a link to the database', async () => {
    const { folder, database, backup } = await makeBackup()
    mkdirSync(join(folder, 'elsewhere'))
    renameSync(database, join(folder, 'elsewhere/pets.db'))
    symlinkSync('../elsewhere/pets.db', database)
    change(database, addingPets(1, 'later'))
    await restore(folder, backup)
    expect(namesIn(join(folder, 'elsewhere/pets.db'))).toEqual(['pet 1', 'pet 2', 'pet 3'])
    expect(namesIn(database)).toEqual(['pet 1', 'pet 2', 'pet 3'])
  })
})

test('a restore makes the database where a link leads whose target is missing, in a folder that is missing', async () => {
  const { folder, database, backup } = await makeBackup()
  rmSync(database)
  symlinkSync('../elsewhere/pets.db', database)
  await restore(folder, backup)
  expect(namesIn(join(folder, 'elsewhere/pets.db'))).toEqual(['pet 1', 'pet 2', 'pet 3'])
  expect(lstatSync(database).isSymbolicLink()).toBe(true)
})

describe('nothing is changed by a restore', () => {
  test.for(unfitFiles)('from %s', async ([, make, message]) => {
    const { folder } = await makeBackup()
    const file = join(folder, 'unfit.db')
    make(file)
    await expectRefusal(folder, file, `The backup ${file} cannot be restored: ${message}`)
  })

  test('from a file that does not exist', async () => {
    const { folder } = await makeBackup()
    await expectRefusal(folder, 'nowhere.db', 'cannot be restored: no such file')
  })

  test('from the database itself', async () => {
    const { folder, database } = await makeBackup()
    await expectRefusal(folder, database, 'it is the database itself; name a backup of it')
  })

  test('over the database of another program', async () => {
    const { folder, database, backup } = await makeBackup()
    rmSync(database)
    change(database, 'CREATE TABLE diary (x)')
    await expectRefusal(folder, backup, `The database ${database} cannot be replaced: it belongs to another program`)
  })

  test('while the service runs', async () => {
    const { folder, backup } = await makeBackup()
    await waitForOutput(await startServer({ folder }), bannerKey)
    await expectRefusal(folder, backup, 'a process has it open; stop the service and try again')
  })

  test('while another process has the database open, even one that is destroyed', async () => {
    const { folder, database, backup } = await makeBackup()
    const end = await holdOpen(database)
    await expectRefusal(folder, backup, 'a process has it open; stop the service and try again')
    overwrite(database, 0, 4096)
    await expectRefusal(folder, backup, 'a process has it open; stop the service and try again')
    await end()
    await restore(folder, backup)
  })

  test('while a process may have a database open that was deleted under it', async () => {
    const { folder, database, backup } = await makeBackup()
    const end = await holdOpen(database)
    rmSync(database)
    await expectRefusal(folder, backup, `stop the service, delete ${database}-shm and try again`)
    await end()
    rmSync(`${database}-shm`)
    await restore(folder, backup)
  })
})

async function expectRefusal(folder: string, file: string, message: string): Promise<void> {
  const before = fingerprints(join(folder, 'data'))
  const run: Run = runPetstore({ folder, arguments: ['restore', file] })
  expect(await run.ended).toBe(1)
  expect(run.stdout).toBe('')
  expect(run.stderr).toMatch(/^[^\n]+\.\n$/)
  expect(run.stderr).toContain(message)
  expect(fingerprints(join(folder, 'data'))).toEqual(before)
}

function fingerprints(folder: string): [string, string][] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
    .map(({ name }) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ])
}

/** Another process reads the database, and then has it open until it is ended. */
async function holdOpen(path: string): Promise<() => Promise<void>> {
  const script = `
    const database = new (require('better-sqlite3'))(${JSON.stringify(path)}, { readonly: true })
    console.log(database.prepare('SELECT count(*) FROM pets').pluck().get())
    setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['-e', script], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(end)
  await once(child.stdout, 'data')
  return end
}
