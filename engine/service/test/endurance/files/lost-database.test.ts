import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  commandLine,
  prepareSqlite,
  runProgram,
  runToEnd,
  startServer,
  startWithKey,
  textsIn,
} from '../../../../test/notes/fixtures.ts'
import { type DatabasePaths, databasePaths, linkTo } from '../../../../test/support/database-paths.ts'
import { notesIn } from '../../../../test/support/log-lines.ts'
import { runCommand } from '../../../../test/support/process.ts'
import { change } from '../../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import {
  createNote,
  databaseFiles,
  expectIntact,
  expectStopped,
  expectUnavailable,
  listBodies,
  makeOtherDatabase,
  openConnection,
  rescuedCopies,
  startOnFile,
  storedBodies,
} from '../file-faults.ts'

const lost =
  /^The database was deleted, moved or replaced while it was open; all that it had is saved in (\S+): restore/

/** The names in the copy that the sentence names. */
function rescuedBodies(sentence: string): unknown[] {
  return storedBodies(lost.exec(sentence)?.[1] ?? '')
}

describe('the database file is', () => {
  test.for([
    ['another database of the service', (key: string) => makeOtherDatabase('new', key), ['new']],
    ['a database of another program', makeForeignDatabase, []],
  ] as const)('replaced by %s: neither the service nor its log changes that', async ([, makeOther, names]) => {
    const { api, path, key, damage } = await startOnFile()
    await createNote(api, 'old')
    const other = makeOther(key)
    const before = readFileSync(other)
    renameSync(other, path)
    await expectUnavailable(createNote(api, 'lost'))
    expect(rescuedBodies(await damage)).toEqual(['old'])
    await expectStopped(api)
    await api.store.close()
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(storedBodies(path)).toEqual(names)
    expectIntact(path)
  })

  test('in a folder that cannot be read: requests may be retried, and succeed when it can be read', async () => {
    const { api, path } = await startOnFile()
    const folder = dirname(path)
    await createNote(api, 'before')
    renameSync(folder, `${folder}.away`)
    // A file mode does not stop a privileged user. A link to itself does.
    symlinkSync(folder, folder)
    for (let i = 0; i < 3; i++) await expectUnavailable(createNote(api, 'lost'))
    expect((await listBodies(api)).status).toBe(200)
    rmSync(folder)
    renameSync(`${folder}.away`, folder)
    expect((await createNote(api, 'after')).status).toBe(201)
  })
})

function makeForeignDatabase(): string {
  const path = join(temporaryFolder(), 'foreign.db')
  change(path, 'CREATE TABLE notes (id INTEGER PRIMARY KEY, body, priority, state)')
  return path
}

test.for([
  [
    'renamed, with a link in its old place',
    ({ path }: DatabasePaths) => {
      const renamed = join(dirname(path), 'real.db')
      renameSync(path, renamed)
      symlinkSync(renamed, path)
      return renamed
    },
  ],
  [
    'moved to the place of the link that led to it',
    ({ path, given }: DatabasePaths) => {
      renameSync(path, given)
      return given
    },
  ],
] as const)('no acknowledged note is lost when the database is %s while the service runs', async ([, move]) => {
  const paths = databasePaths(linkTo)
  const { api, damage } = await startOnFile(paths)
  for (const body of ['a', 'b', 'c']) await createNote(api, body)
  const moved = move(paths)
  await expectUnavailable(createNote(api, 'lost'))
  expect(await damage).toContain('start the service again')
  await expectStopped(api)
  expect(storedBodies(moved)).toEqual(expect.arrayContaining(['a', 'b', 'c']))
  expect(rescuedCopies(moved)).toEqual([])
})

test('a link that leads to another database stops the service, and both databases keep their notes', async () => {
  const { path, given } = databasePaths(linkTo)
  const { api, key, damage } = await startOnFile({ path, given })
  await createNote(api, 'old')
  const other = makeOtherDatabase('new', key)
  rmSync(given)
  symlinkSync(other, given)
  await expectUnavailable(createNote(api, 'lost'))
  expect(rescuedBodies(await damage)).toEqual(['old'])
  expect([storedBodies(path), storedBodies(other)]).toEqual([['old'], ['new']])
})

test.for([
  ['its folder', (path: string) => rmSync(dirname(path), { recursive: true })],
  [
    'all of its files, which had a fault,',
    (path: string) => {
      const other = openConnection(path)
      other.unsafeMode(true)
      other.exec('CREATE INDEX lost ON notes (body); PRAGMA writable_schema = ON')
      other.exec("DELETE FROM sqlite_schema WHERE name = 'lost'")
      for (const suffix of databaseFiles) rmSync(path + suffix)
    },
  ],
] as const)(
  'a database is saved when %s is deleted, and the next start is refused and names the copy',
  async ([, remove]) => {
    const { folder, path, server, copy } = await lose(remove)
    expect(storedBodies(copy)).toHaveLength(10)
    const sentences = [...server.stdout.matchAll(/"level":"error",.*"msg":"(The database was .*)"/g)]
    expect(sentences.map(([, sentence = '']) => lost.exec(sentence)?.[1])).toEqual([copy])

    const next = runProgram({ folder })
    expect([await next.ended, next.stdout]).toEqual([66, ''])
    expect(next.stderr).toContain(`restore the newest with "notes restore ${copy}"`)
    expect(existsSync(path)).toBe(false)
  },
)

test.for([
  ['is deleted', rmSync],
  ['is moved', (path: string) => renameSync(path, `${path}.away`)],
] as const)('a database that %s is restored from its copy at once, beside its old log', async ([, remove]) => {
  const { folder, path, copy } = await lose(remove)
  await runToEnd({ folder, arguments: ['restore', copy] })
  await startServer({ folder })
  expect(storedBodies(path)).toHaveLength(10)
})

/** Starts a service, creates ten notes, and removes the database. Resolves when the service has ended. */
async function lose(remove: (path: string) => void) {
  const { server, folder, rest } = await startWithKey()
  const path = join(folder, 'data/notes.db')
  for (let i = 0; i < 10; i++) await createNote({ rest }, `note ${i}`)
  remove(path)
  expect(await server.ended).toBe(1)
  const [copy = ''] = rescuedCopies(path)
  return { folder, path, server, copy }
}

test('while the copy cannot be made, the service reports it, waits and tries again', async () => {
  const { path, given } = databasePaths(linkTo)
  const { api, damage, warnings } = await startOnFile({ path, given })
  await createNote(api, 'kept')
  rmSync(dirname(path), { recursive: true })
  rmSync(given)
  // No file can be made there, as on a full disk, because the name of the copy would be too long.
  symlinkSync('x'.repeat(255), given)
  await expectUnavailable(createNote(api, 'lost'))
  await expect.poll(() => warnings).toEqual([expect.stringMatching(/^The database cannot be saved in \S+ yet: .+\.$/)])
  rmSync(given)
  symlinkSync(path, given)
  expect(rescuedBodies(await damage)).toEqual(['kept'])
})

test('a command whose database is deleted says what was saved instead of what failed, and ends with exit code 1', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'data/notes.db')
  prepareSqlite(path)
  const lines = Array.from({ length: 5_000 }, (_, index) => JSON.stringify({ body: `note ${index}`, priority: 1 }))
  writeFileSync(join(folder, 'notes.ndjson'), `${lines.join('\n')}\n`)
  const input = '(cat notes.ndjson; for i in $(seq 600); do [ -e continue ] || sleep 0.1; done; cat notes.ndjson)'
  const importing = runCommand(
    ['sh', '-c', `${input} | "$@"`, 'sh', ...commandLine, 'notes', 'import', '-', '--key', 'once'],
    { folder },
  )
  await expect.poll(() => textsIn(path).length).toBeGreaterThan(0)
  for (const suffix of databaseFiles) rmSync(path + suffix)
  writeFileSync(join(folder, 'continue'), '')
  expect([await importing.ended, importing.stdout]).toEqual([1, ''])
  const said = notesIn(importing.stderr)
  expect(said.split('\n')).toEqual([expect.stringMatching(lost), ''])
  expect(rescuedBodies(said)).toContain('note 0')
})
