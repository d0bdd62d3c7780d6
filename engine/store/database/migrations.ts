import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Column, getTableName, type Table } from 'drizzle-orm'
import { UnusableDatabase } from '../collection/errors.ts'

/** One step of a schema's history. Each database records the applied migrations in its journal, the table `migrations`. */
export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the file, in hexadecimal. It detects a change of a migration that is already applied. */
  hash: string
}

export type AppliedMigration = Pick<Migration, 'name' | 'hash'>

/** Called after the commit, with the names of the migrations that were applied, and whether they created the database. */
export type OnMigrate = (migrations: string[], isNew: boolean) => void

export interface MigrateOptions {
  /** Whether the tables may be created in a database that is missing or empty, true by default. Otherwise it is refused. */
  create?: boolean | undefined
  /** Whether the database of an older release may be migrated, true by default. Otherwise it is refused. */
  migrate?: boolean | undefined
  onMigrate?: OnMigrate | undefined
  /** How many days the history of changes is kept, 400 by default; 0 for none. */
  historyDays?: number | undefined
  /** Called with a sentence for the operator when the database needs attention. An open store may call it at any time. */
  onWarning?: ((message: string) => void) | undefined
  /** Called when a rescue of lost files of SQLite begins, and when its copy grows. The process must not be ended then. */
  onRescue?: (() => void) | undefined
}

/** The migrations of the tables that every store needs, for a product whose own migrations do not make these tables. */
export const engineTables = {
  sqlite: new URL('migrations/sqlite', import.meta.url),
  postgres: new URL('migrations/postgres', import.meta.url),
}

/** Reads the numbered `*.sql` files of the folders in ascending order of their names. */
export function readMigrations(folders: URL[]): Migration[] {
  return folders.flatMap(readFolder).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readFolder(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => {
      const sql = readFileSync(new URL(file, `${folder}/`), 'utf8').replaceAll('\r\n', '\n')
      return { name: basename(file, '.sql'), sql, hash: createHash('sha256').update(sql).digest('hex') }
    })
}

/** Whether exactly these migrations are applied. */
export function isUpToDate(applied: AppliedMigration[], migrations: Migration[]): boolean {
  return (
    applied.length === migrations.length &&
    applied.every(({ name, hash }, index) => name === migrations[index]?.name && hash === migrations[index].hash)
  )
}

/**
 * The migrations that are not in the journal. The path or URL of the database is for messages.
 *
 * @throws {UnusableDatabase} if a newer release migrated it, if an applied migration has changed, or if there are none
 */
export function pendingMigrations(applied: AppliedMigration[], migrations: Migration[], database: string): Migration[] {
  const unusable = (reason: string) => new UnusableDatabase(database, reason)
  if (migrations.length === 0)
    throw unusable('this service has no migrations for this kind of database; use the other kind (file: or postgres:)')
  for (const { name, hash } of applied) {
    const known = migrations.find((migration) => migration.name === name)
    const release = 'start that release, or restore a backup made before that'
    if (!known) throw unusable(`it was migrated by a newer release (${name}); ${release}`)
    const remedy = 'restore the old file and add a new migration'
    if (known.hash !== hash) throw unusable(`the migration ${name} was changed after it was applied; ${remedy}`)
  }
  return migrations.filter(({ name }) => !applied.some((migration) => migration.name === name))
}

/** Refuses a database without the schema of this release. Everything that does not migrate calls it. */
export function refuseOtherRelease(
  applied: AppliedMigration[],
  { migrations, program }: { migrations: Migration[]; program: string },
  database: string,
): void {
  if (pendingMigrations(applied, migrations, database).length === 0) return
  const remedy = `use that release, or back up the database and run "${program} db migrate"`
  throw new UnusableDatabase(database, `an older release made it; ${remedy}`)
}

/** The database, or what its rows contain, refuses a migration. */
export function migrationFailed(database: string, name: string, message: string): UnusableDatabase {
  const remedy =
    'correct its file if it is new, or the rows that it refuses, or tables that another program has changed'
  return new UnusableDatabase(database, `its migration ${name} fails: ${message}; ${remedy}`)
}

/** What a table of a database has of the rules of its columns. */
export interface ColumnRules {
  /** The names of the columns with NOT NULL. */
  required: string[]
  /** For each column of a foreign key its name and that of the other table. */
  references: [column: string, table: string][]
}

/** The rules of columns in the code that a table of a database lacks, as words of SQL. The id has its own. */
export function missingColumnRules(
  {
    columns,
    foreignKeys,
  }: { columns: Column[]; foreignKeys: { reference(): { columns: Column[]; foreignTable: Table } }[] },
  { required, references }: ColumnRules,
): string[] {
  const wrong = columns.filter(({ name, notNull, primary }) => !primary && notNull !== required.includes(name))
  const named = foreignKeys.map(({ reference }) => reference())
  const broken = named.filter(({ columns, foreignTable }) =>
    columns.some(({ name }) => !references.some((each) => each[0] === name && each[1] === getTableName(foreignTable))),
  )
  return [
    ...wrong.map(({ name, notNull }) => `${notNull ? 'NOT NULL' : 'NULL'} of ${name}`),
    ...broken.map(
      ({ columns, foreignTable }) =>
        `FOREIGN KEY (${columns.map(({ name }) => name)}) REFERENCES ${getTableName(foreignTable)}`,
    ),
  ]
}
