import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine, makeDatabase, runToEnd } from '../../../../test/notes/fixtures.ts'
import { runCommand } from '../../../../test/support/process.ts'
import { change } from '../../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { canTrace, strace } from '../../../../test/support/traced.ts'

const isRoot = process.getuid?.() === 0
/** The user and the group of the service. Without root, all files belong to the user of the test. */
const owner = isRoot ? { uid: 54_321, gid: 54_322 } : { uid: process.getuid?.(), gid: process.getgid?.() }

test('everything that commands create beside a database has its owner and its mode, and the service can use it', async () => {
  const folder = ownedFolder()
  const database = makeDatabase(join(folder, 'data/notes.db'), 3)
  give(join(folder, 'data'), 0o750)
  give(database, 0o640)
  await run(folder, 'keys', 'list')
  expectOwned(folder, ['data', 'data/notes.db', 'data/notes.db-shm', 'data/notes.db-wal'])
  await run(folder, 'keys', 'create', 'shop')
  await run(folder, 'backup')
  await run(folder, 'backup', 'copy.db')
  await run(folder, 'restore', 'copy.db')
  await run(folder, 'notes', 'export', 'all.csv')
  await run(folder, 'notes', 'export', 'all.ndjson')
  await run(folder, 'notes', 'export', 'all.ndjson', '--force')
  expectOwned(folder, [
    ...['all.csv', 'all.ndjson', 'copy.db', 'copy.db.sha256', 'data', 'data/backups'],
    ...['data/backups/notes.db-<time>.db', 'data/backups/notes.db-<time>.db.sha256', 'data/notes.db'],
    ...['data/notes.db.backed-up', 'data/notes.db.before-restore-<time>'],
  ])
})

test.for([
  'db migrate',
  'notes import notes.ndjson',
  'restore copy.db',
  'db copy --from file:copy.db --to file:data/notes.db',
])(
  '%s creates a database that belongs to the owner of the folder, and that no other user can read',
  async (command) => {
    const folder = ownedFolder()
    change(makeDatabase(join(folder, 'copy.db'), 3), 'PRAGMA journal_mode = DELETE')
    give(join(folder, 'copy.db'), 0o644)
    writeFileSync(join(folder, 'notes.ndjson'), '{"body":"Ann","priority":7}\n')
    give(join(folder, 'notes.ndjson'), 0o644)
    await run(folder, ...command.split(' '))
    const created = entriesIn(folder).filter(({ name }) => name.startsWith('data'))
    expect(created.map(({ name }) => name)).toEqual(expect.arrayContaining(['data', 'data/notes.db']))
    expect(created).toEqual(
      created.map(({ name, isFolder }) => ({ name, isFolder, ...owner, mode: isFolder ? 0o700 : 0o600 })),
    )
    expectUsable(folder)
  },
)

test.runIf(canTrace())('a restore keeps the owner and the mode of the old database without hard links', async () => {
  const folder = ownedFolder()
  const database = makeDatabase(join(folder, 'data/notes.db'), 3)
  give(join(folder, 'data'), 0o750)
  give(database, 0o640)
  await run(folder, 'backup', 'copy.db')
  const failing = strace('-e', 'trace=link,linkat', '-e', 'inject=link,linkat:error=EPERM')
  const restore = runCommand([...failing, ...commandLine, 'restore', 'copy.db'], { folder })
  expect(await restore.ended, restore.stderr).toBe(0)
  expectOwned(folder, [
    ...['copy.db', 'copy.db.sha256', 'data', 'data/notes.db', 'data/notes.db.backed-up'],
    'data/notes.db.before-restore-<time>',
  ])
})

/** Expects these files and folders, and that all of them belong to the service and have the mode of the database. */
function expectOwned(folder: string, names: string[]): void {
  const entries = entriesIn(folder).map((entry) => ({ ...entry, name: entry.name.replace(/\d{4}-\S+Z/, '<time>') }))
  expect(entries).toEqual(
    names.map((name) => {
      const isFolder = ['data', 'data/backups'].includes(name)
      return { name, isFolder, ...owner, mode: isFolder ? 0o750 : 0o640 }
    }),
  )
  expectUsable(folder)
}

function ownedFolder(): string {
  const folder = temporaryFolder()
  give(folder, 0o755)
  return folder
}

/** Gives a file or folder to the user of the service. */
function give(path: string, mode: number): void {
  if (isRoot) chownSync(path, owner.uid ?? 0, owner.gid ?? 0)
  chmodSync(path, mode)
}

const run = (folder: string, ...words: string[]) => runToEnd({ folder, arguments: words })

function entriesIn(folder: string) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { uid, gid, mode } = statSync(path)
      return { name: relative(folder, path), isFolder: entry.isDirectory(), uid, gid, mode: mode & 0o777 }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Expects that a process of the service's user can read and write every file, and create files beside the database. */
function expectUsable(folder: string): void {
  const paths = entriesIn(folder).map(({ name }) => join(folder, name))
  const script = `
    const [uid, gid, ...paths] = process.argv.slice(1)
    if (process.getuid() === 0) {
      process.setgroups([])
      process.setgid(Number(gid))
      process.setuid(Number(uid))
    }
    for (const path of paths) fs.accessSync(path, fs.constants.R_OK | fs.constants.W_OK)`
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, `${owner.uid}`, `${owner.gid}`, ...paths])
  expect(status, String(stderr)).toBe(0)
}
