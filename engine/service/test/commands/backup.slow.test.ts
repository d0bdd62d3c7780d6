import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backUpDatabase } from '../../../store/sqlite/backup/backup.ts'
import { onSqlite } from '../../../test/notes/database.ts'
import {
  backUp,
  commandLine,
  makeDatabase,
  rowsIn,
  runToEnd,
  textsIn,
  unfitFiles,
} from '../../../test/notes/fixtures.ts'
import { auditLinesIn, notesIn } from '../../../test/support/log-lines.ts'
import { change } from '../../../test/support/sample-database.ts'
import { canMount } from '../../../test/support/small-disk.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { canTrace } from '../../../test/support/traced.ts'
import { parseFile } from '../../operator/location.ts'

describe('the backup command', () => {
  test('creates one private file in backups/ beside the database and prints only its path', async () => {
    const { folder } = makeSample()
    const run = await runToEnd({ folder, arguments: ['backup'] })
    expect(notesIn(run.stderr)).toBe('')
    expect(auditLinesIn(run.stderr)).toMatchObject([
      {
        action: 'database.backup',
        subject: run.stdout.trim(),
        from: join(folder, 'data/notes.db'),
        bytes: statSync(run.stdout.trim()).size,
      },
    ])
    const [name = '', checksum = ''] = readdirSync(join(folder, 'data/backups')).toSorted()
    expect(name).toMatch(/^notes\.db-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z\.db$/)
    expect(run.stdout).toBe(`${join(folder, 'data/backups', name)}\n`)
    expect(statSync(run.stdout.trim()).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'data/backups')).mode & 0o777).toBe(0o700)
    expect(checksum).toBe(`${name}.sha256`)
    expect(readdirSync(join(folder, 'data/backups'))).toHaveLength(2)
    expect(readdirSync(join(folder, 'data')).toSorted()).toEqual(['backups', 'notes.db'])
  })

  test.for(['', ' ', '~/copy.db', 'copy.db ', '\tcopy.db', 'co\npy.db', 'copy\0.db'])(
    '%j cannot name a backup',
    (name) => {
      expect(() => parseFile(name)).toThrow(`${JSON.stringify(name)} cannot name a database file`)
    },
  )

  if (spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0) {
    test('shows progress on a terminal and not in the output', () => {
      const { folder } = makeSample(1_000)
      const command = `${commandLine.map((word) => `'${word}'`).join(' ')} backup > printed`
      const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
      expect(stdout).toMatch(/\rCopied [\d.]+ of [\d.]+ MiB \(\d+ %\)/)
      expect(stdout).toContain('\rChecking the copy\x1b[K')
      const [, afterProgress = ''] = stdout.split('\rChecking the copy\x1b[K\r\x1b[K')
      expect(afterProgress).toMatch(/INFO.*audit.*database\.backup[^\n]*\n$/)
      expect(readFileSync(join(folder, 'printed'), 'utf8')).toMatch(/^\/\S+\.db\n$/)
    })
  }

  if (canTrace()) {
    test('syncs the backup before it gets its name, and its folder before the command ends', () => {
      const { folder } = makeSample()
      const trace = ['-f', '--seccomp-bpf', '-y', '-qq', '-o', 'trace', '-e', 'trace=fsync,fdatasync,?link,?linkat']
      expect(spawnSync('strace', [...trace, ...commandLine, 'backup', 'copy.db'], { cwd: folder }).status).toBe(0)
      const calls = readFileSync(join(folder, 'trace'), 'utf8').split('\n')
      const named = calls.findIndex((call) => /link(?:at)?\(.*copy\.db"/.test(call))
      expect(calls.slice(0, named).findLast((call) => /f(?:data)?sync\(.*\.partial>/.test(call))).toBeDefined()
      expect(calls.slice(named).find((call) => call.includes('fsync('))).toContain(`<${folder}>`)
    })

    test('a restore without hard links syncs its copy of the old database before it replaces it', () => {
      const { folder, database } = makeSample()
      change(makeDatabase(join(folder, 'copy.db'), 1), 'PRAGMA journal_mode = DELETE')
      const trace = ['-f', '-y', '-qq', '-o', 'trace', '-e', 'trace=fsync,rename,link', '-e', 'inject=link:error=EPERM']
      expect(spawnSync('strace', [...trace, ...commandLine, 'restore', 'copy.db'], { cwd: folder }).status).toBe(0)
      const calls = readFileSync(join(folder, 'trace'), 'utf8').split('\n')
      const before = calls.slice(
        0,
        calls.findIndex((call) => call.includes('rename(')),
      )
      expect(before.some((call) => /fsync\(.*before-restore-\S+Z>/.test(call))).toBe(true)
      expect(textsIn(database)).toEqual(['note 1'])
    })
  }

  if (canMount()) {
    test('on a full disk fails with a message and leaves nothing', () => {
      const { folder } = makeSample(20_000)
      mkdirSync(join(folder, 'disk'))
      const script = `mount -t tmpfs -o size=256k none disk && "$@" backup disk/copy.db; echo "$? $(ls -A disk)"`
      const run = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', ...commandLine], { cwd: folder })
      expect(run.stderr.toString()).toMatch(
        /^The database \S+copy\.db cannot be used: the disk is full; free some space\.\n$/,
      )
      expect(run.stdout.toString()).toBe('1 \n')
    })
  }
})

describe('a backup', () => {
  test.for(['copy.db', String.raw`c:\new copy.db`])('named %s has a checksum that sha256sum verifies', async (name) => {
    const { folder, database } = makeSample()
    const backup = await backUp(folder, join(folder, name))
    const verify = () => spawnSync('sha256sum', ['--check', '--quiet', `${name}.sha256`], { cwd: folder }).status
    expect(verify()).toBe(0)
    expect(statSync(`${backup}.sha256`).mode).toBe(statSync(database).mode)
    writeFileSync(backup, 'x', { flag: 'a' })
    expect(verify()).toBe(1)
  })

  test('of a read-only database can be read and written by its owner', async () => {
    const { folder, database } = makeSample()
    chmodSync(database, 0o440)
    const backup = await backUp(folder)
    expect(statSync(backup).mode & 0o777).toBe(0o640)
  })

  test('replaces the checksum of an earlier backup of its name', async () => {
    const { folder } = makeSample()
    const file = join(folder, 'copy.db')
    writeFileSync(`${file}.sha256`, 'old')
    await backUp(folder, file)
    expect(spawnSync('sha256sum', ['--check', 'copy.db.sha256'], { cwd: folder }).status).toBe(0)
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'copy.db.sha256', 'data'])
  })

  test('keeps the schema, the rows of each table, and the highest id that was ever assigned', async () => {
    const { folder, database } = makeSample(10)
    change(database, 'DELETE FROM notes WHERE id > 5')
    const at = '2026-01-01T00:00:00.000Z'
    change(database, `INSERT INTO history (at, collection, row_id, before) VALUES ('${at}', 'notes', 7, '{}')`)
    const backup = await backUp(folder)
    expect(everythingIn(backup)).toEqual(everythingIn(database))
    change(backup, "INSERT INTO notes (body, priority, state) VALUES ('Ann', 1, 'done')")
    expect(rowsIn(backup).at(-1)).toMatchObject({ id: 11, body: 'Ann' })
  })

  test('needs no log beside it, unlike the database', async () => {
    expect(open(await backUp(makeSample().folder)).pragma('journal_mode', { simple: true })).toBe('delete')
  })

  test('does not overwrite a file that appears while it is made', async () => {
    const { folder, database } = makeSample()
    const file = join(folder, 'copy.db')
    const backup = backUpDatabase(database, onSqlite, file, () => writeFileSync(file, 'precious'))
    await expect(backup).rejects.toThrow('it already exists; choose another name')
    expect(readFileSync(file, 'utf8')).toBe('precious')
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'data'])
  })
})

describe('a backup is refused and changes nothing', () => {
  test.for(unfitFiles)('if the database is %s', async ([, make, message]) => {
    const folder = temporaryFolder()
    const database = join(folder, 'data/notes.db')
    mkdirSync(join(folder, 'data'))
    make(database)
    const before = contentOf(database)
    await expect(backUp(folder)).rejects.toThrow(`The database ${database} cannot be used: ${message}`)
    const backups = join(folder, 'data/backups')
    expect(existsSync(backups) ? readdirSync(backups) : []).toEqual([])
    expect(contentOf(database)).toEqual(before)
  })

  test('if there is no database', async () => {
    const folder = temporaryFolder()
    await expect(backUp(folder)).rejects.toThrow('notes.db cannot be used: no such file')
    expect(readdirSync(folder)).toEqual([])
  })

  test.for([
    ['the name of another file', 'taken.db', 'it already exists; choose another name'],
    ['the name of the database', 'data/notes.db', 'it already exists; choose another name'],
    ['a name in a folder that does not exist', 'nowhere/copy.db', 'its folder does not exist; create it first'],
    ['a name below a file', 'taken.db/copy.db', 'a part of its path is a file, not a folder; check the path'],
  ] as const)('for %s', async ([, destination, message]) => {
    const { folder, database } = makeSample()
    writeFileSync(join(folder, 'taken.db'), 'precious')
    const backup = backUp(folder, join(folder, destination))
    await expect(backup).rejects.toThrow(`The database ${join(folder, destination)} cannot be used: ${message}`)
    expect(readFileSync(join(folder, 'taken.db'), 'utf8')).toBe('precious')
    expect(textsIn(database)).toEqual(['note 1', 'note 2', 'note 3'])
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'taken.db'])
  })
})

function makeSample(count = 3) {
  const folder = temporaryFolder()
  return { folder, database: makeDatabase(join(folder, 'data/notes.db'), count) }
}

function contentOf(path: string): Buffer | string[] {
  return statSync(path).isFile() ? readFileSync(path) : readdirSync(path)
}

function everythingIn(path: string): unknown[] {
  const database = open(path)
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all()
  return [
    ...tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all()),
    database.pragma('application_id', { simple: true }),
    ...database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all(),
  ]
}

function open(path: string): Database.Database {
  const database = new Database(path, { fileMustExist: true })
  onTestFinished(() => void database.close())
  return database
}
