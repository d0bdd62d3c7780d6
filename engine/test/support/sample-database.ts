import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import Database from 'better-sqlite3'
import type { SqliteRelease } from '../../store/database/loaded.ts'
import { backUpDatabase } from '../../store/sqlite/backup/backup.ts'
import { restoreDatabase } from '../../store/sqlite/backup/restore.ts'
import { isOnPostgres } from './database.ts'
import { temporaryFolder } from './temporary.ts'
import type { SampleRow } from './tested.ts'

/** Databases, backups and damaged files of a product. */
export function sampleFixtures(
  row: SampleRow,
  program: string,
  { onSqlite, prepareSqlite }: { onSqlite: SqliteRelease; prepareSqlite(path: string): void },
) {
  /** Creates a database of this service with `count` rows. Their texts begin with `word`. */
  function makeDatabase(path: string, count: number, word = row.word): string {
    prepareSqlite(path)
    change(path, addingRows(count, word))
    return path
  }

  function addingRows(count: number, word: string): string {
    return `
      WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})
      ${row.insertingFrom(word)} FROM counter`
  }

  /** The statement that inserts a row with this id. */
  function addingRow(id: bigint): string {
    const override = isOnPostgres ? 'OVERRIDING SYSTEM VALUE' : ''
    return `INSERT INTO ${row.table} ${row.columns} ${override} VALUES ${row.valuesOf(id)}`
  }

  /** Lines of NDJSON with texts such as `note 1`, `note 2` and so on. */
  function ndjsonOf(count: number): string {
    const valuesOf = (index: number) => ({ [row.text]: `${row.word} ${index + 1}`, [row.integer.field]: index })
    return Array.from({ length: count }, (_, index) => `${JSON.stringify(valuesOf(index))}\n`).join('')
  }

  /** All rows in ascending order of their ids. */
  function rowsIn(path: string): (Record<string, unknown> & { id: number })[] {
    const database = new Database(path, { fileMustExist: true })
    try {
      return database.prepare(`SELECT * FROM ${row.table} ORDER BY id`).all() as (Record<string, unknown> & {
        id: number
      })[]
    } finally {
      database.close()
    }
  }

  function textsIn(path: string): unknown[] {
    return rowsIn(path).map((each) => each[row.text])
  }

  /** The texts in the database in a folder, in their order. */
  function storedTexts(folder: string): unknown[] {
    return textsIn(join(folder, `data/${program}.db`)).toSorted()
  }

  /** Files that are not an intact database of this service, with the reason in the message. */
  const unfitFiles: [name: string, make: (path: string) => void, message: string][] = [
    ['a text', (path) => writeFileSync(path, 'Dear diary,\n'.repeat(100)), 'it is not an SQLite database'],
    ['a folder', (path) => mkdirSync(path), 'it is not a file'],
    ['an empty file', (path) => writeFileSync(path, ''), 'it is not an SQLite database'],
    [
      'a database of another program',
      (path) => change(path, `CREATE TABLE ${row.table} (id INTEGER PRIMARY KEY)`),
      'it belongs to another program; choose another database',
    ],
    ['a corrupt database', makeCorrupt, 'it is corrupt; restore an intact backup'],
    ['a database whose index is not complete', makeIncomplete, 'it is corrupt; restore an intact backup ('],
    [
      'a database of a newer release',
      (path) => {
        makeDatabase(path, 1)
        change(path, "INSERT INTO migrations VALUES ('9999_future', 'x', 'now')")
      },
      'it was migrated by a newer release (9999_future)',
    ],
  ]

  function makeCorrupt(path: string): void {
    makeDatabase(path, 2_000)
    overwrite(path, 5 * 4096, 4 * 4096)
  }

  /** Adds a row that is missing in an index. The index is hidden from SQLite while the row is inserted. */
  function makeIncomplete(path: string): void {
    makeDatabase(path, 10)
    const database = new Database(path).unsafeMode()
    const index = database.prepare(`SELECT * FROM sqlite_schema WHERE name = '${row.index}'`).get()
    database.exec(`PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = '${row.index}'`)
    database.close()
    change(path, addingRows(1, 'hidden'))
    const again = new Database(path).unsafeMode()
    again.pragma('writable_schema = ON')
    again.prepare('INSERT INTO sqlite_schema VALUES (@type, @name, @tbl_name, @rootpage, @sql)').run(index)
    again.close()
  }

  /** Backs up the database in the folder, and returns the path of the backup. */
  async function backUp(folder: string, file?: string): Promise<string> {
    return backUpDatabase(join(folder, `data/${program}.db`), onSqlite, file)
  }

  let sample: { database: Buffer; backup: Buffer; checksum: Buffer; name: string } | undefined

  /** A folder with a database of three rows and a backup of it, both copied from a sample. */
  async function makeBackup() {
    sample ??= await makeSample()
    const folder = temporaryFolder()
    const [database, backup] = [join(folder, `data/${program}.db`), join(folder, 'data/backups', sample.name)]
    writeIn(database, sample.database)
    writeIn(backup, sample.backup)
    writeIn(`${backup}.sha256`, sample.checksum)
    return { folder, database, backup }
  }

  async function makeSample() {
    const folder = temporaryFolder()
    const database = makeDatabase(join(folder, `data/${program}.db`), 3)
    const backup = await backUp(folder)
    const checksum = readFileSync(`${backup}.sha256`)
    return { database: readFileSync(database), backup: readFileSync(backup), checksum, name: basename(backup) }
  }

  /** Restores the backup into the folder, and returns the new path of the old database. */
  async function restore(folder: string, file: string): Promise<string | undefined> {
    return (await restoreDatabase(join(folder, `data/${program}.db`), onSqlite, file)).kept
  }

  function filesIn(folder: string): string[] {
    return readdirSync(join(folder, 'data')).toSorted()
  }

  function keptIn(folder: string): string[] {
    const names = filesIn(folder).filter((name) => name.startsWith(`${program}.db.before-restore-`))
    return names.map((name) => join(folder, 'data', name))
  }

  return {
    makeDatabase,
    addingRow,
    addingRows,
    ndjsonOf,
    rowsIn,
    textsIn,
    storedTexts,
    unfitFiles,
    backUp,
    makeBackup,
    restore,
    filesIn,
    keptIn,
  }
}

export function change(path: string, sql: string): void {
  const database = new Database(path)
  database.exec(sql)
  database.close()
}

/** What is in a folder and in the folders in it, with the bytes of the files. The index of a log changes with every reader. */
export function contentsOf(folder: string, ignored: string[] = []): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const isKept = entry.isFile() && !['-shm', ...ignored].some((suffix) => path.endsWith(suffix))
    return [relative(folder, path), isKept ? readFileSync(path, 'base64') : '']
  })
  return Object.fromEntries(entries)
}

/** Overwrites a part of the file. The inode stays the same. */
export function overwrite(path: string, start: number, length: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(length, 0xff), 0, length, start)
  closeSync(file)
}

function writeIn(path: string, bytes: Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, bytes, { mode: 0o600 })
}

/** Leaves the same files as a process that was killed after a commit. The change is only in the log. */
export function leaveLog(path: string, sql: string): void {
  const database = new Database(path)
  database.exec(sql)
  const files = ['', '-wal', '-shm'].map((suffix) => path + suffix)
  for (const file of files) copyFileSync(file, `${file}.copy`)
  database.close()
  for (const file of files) renameSync(`${file}.copy`, file)
}
