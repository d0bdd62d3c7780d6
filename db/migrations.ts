import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { UnusableDatabase } from './store.ts'

/** A step of a schema's history. The databases keep a journal of the steps they have been through, the table `migrations`. */
export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the file, by which a change after the fact is noticed. */
  hash: string
}

export type AppliedMigration = Pick<Migration, 'name' | 'hash'>

/** Reads the numbered `*.sql` files of a folder, in order. */
export function readMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, `${folder}/`), 'utf8').replaceAll('\r\n', '\n')
      return { name: file.slice(0, -'.sql'.length), sql, hash: createHash('sha256').update(sql).digest('hex') }
    })
}

/** Whether a database has been through exactly these migrations. */
export function isUpToDate(applied: AppliedMigration[], migrations: Migration[]): boolean {
  return (
    applied.length === migrations.length &&
    applied.every(({ name, hash }, index) => name === migrations[index]?.name && hash === migrations[index].hash)
  )
}

/**
 * The migrations a database still lacks.
 *
 * @throws {UnusableDatabase} if it was migrated by a newer release or an applied migration was changed since.
 */
export function pendingMigrations(applied: AppliedMigration[], migrations: Migration[]): Migration[] {
  for (const { name, hash } of applied) {
    const known = migrations.find((migration) => migration.name === name)
    if (!known) {
      throw new UnusableDatabase(
        `it was migrated by a newer release (${name}): start that release, or restore a backup made before it`,
      )
    }
    if (known.hash !== hash) {
      throw new UnusableDatabase(
        `the migration ${name} was changed after it was applied: restore the file as it was and add a new migration`,
      )
    }
  }
  return migrations.filter(({ name }) => !applied.some((migration) => migration.name === name))
}
