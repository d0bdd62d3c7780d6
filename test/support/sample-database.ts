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
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { backUpDatabase } from '../../engine/store/sqlite/backup/backup.ts'
import { restoreDatabase } from '../../engine/store/sqlite/backup/restore.ts'
import { onSqlite, prepareSqlite } from './engines.ts'
import { temporaryFolder } from './temporary.ts'

/** Creates a database of this service with `count` pets. Their names begin with `word`. */
export function makeDatabase(path: string, count: number, word = 'pet'): string {
  prepareSqlite(path)
  change(path, addingPets(count, word))
  return path
}

export function addingPets(count: number, word: string): string {
  return `
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})
    INSERT INTO pets (name, category_id, status) SELECT '${word} ' || n, n, 'available' FROM counter`
}

export function change(path: string, sql: string): void {
  const database = new Database(path)
  database.exec(sql)
  database.close()
}

/** All pets in ascending order of their ids. */
export function petsIn(path: string): { id: number; name: string }[] {
  const database = new Database(path, { fileMustExist: true })
  try {
    return database.prepare('SELECT * FROM pets ORDER BY id').all() as { id: number; name: string }[]
  } finally {
    database.close()
  }
}

export function namesIn(path: string): string[] {
  return petsIn(path).map(({ name }) => name)
}

/** Files that are not an intact database of this service, with the reason in the message. */
export const unfitFiles: [name: string, make: (path: string) => void, message: string][] = [
  ['a text', (path) => writeFileSync(path, 'Dear diary,\n'.repeat(100)), 'it is not an SQLite database'],
  ['a folder', (path) => mkdirSync(path), 'it is not a file'],
  ['an empty file', (path) => writeFileSync(path, ''), 'it is not an SQLite database'],
  [
    'a database of another program',
    (path) => change(path, 'CREATE TABLE pets (id INTEGER PRIMARY KEY)'),
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

/** Adds a pet that is missing in an index. The index is hidden from SQLite while the pet is inserted. */
function makeIncomplete(path: string): void {
  makeDatabase(path, 10)
  const database = new Database(path).unsafeMode()
  const index = database.prepare("SELECT * FROM sqlite_schema WHERE name = 'pets_by_status'").get()
  database.exec("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'pets_by_status'")
  database.close()
  change(path, addingPets(1, 'hidden'))
  const again = new Database(path).unsafeMode()
  again.pragma('writable_schema = ON')
  again.prepare('INSERT INTO sqlite_schema VALUES (@type, @name, @tbl_name, @rootpage, @sql)').run(index)
  again.close()
}

/** Overwrites a part of the file. The inode stays the same. */
export function overwrite(path: string, start: number, length: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(length, 0xff), 0, length, start)
  closeSync(file)
}

/** Backs up the database in the folder, and returns the path of the backup. */
export async function backUp(folder: string, file?: string): Promise<string> {
  return backUpDatabase(join(folder, 'data/petstore.db'), onSqlite.migrations, file)
}

let sample: { database: Buffer; backup: Buffer; checksum: Buffer; name: string } | undefined

/** A folder with a database of three pets and a backup of it, both copied from a sample. */
export async function makeBackup() {
  sample ??= await makeSample()
  const folder = temporaryFolder()
  const [database, backup] = [join(folder, 'data/petstore.db'), join(folder, 'data/backups', sample.name)]
  writeIn(database, sample.database)
  writeIn(backup, sample.backup)
  writeIn(`${backup}.sha256`, sample.checksum)
  return { folder, database, backup }
}

async function makeSample() {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 3)
  const backup = await backUp(folder)
  const checksum = readFileSync(`${backup}.sha256`)
  return { database: readFileSync(database), backup: readFileSync(backup), checksum, name: basename(backup) }
}

function writeIn(path: string, bytes: Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, bytes, { mode: 0o600 })
}

/** Restores the backup into the folder, and returns the new path of the old database. */
export async function restore(folder: string, file: string): Promise<string | undefined> {
  return (await restoreDatabase(join(folder, 'data/petstore.db'), onSqlite.migrations, file)).kept
}

export function filesIn(folder: string): string[] {
  return readdirSync(join(folder, 'data')).toSorted()
}

export function keptIn(folder: string): string[] {
  const names = filesIn(folder).filter((name) => name.startsWith('petstore.db.before-restore-'))
  return names.map((name) => join(folder, 'data', name))
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
