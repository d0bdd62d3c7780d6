import type { Inspection } from './inspection.ts'
import type { Location } from './location.ts'
import type { Migration } from './migrations.ts'

/**
 * Opens a database for inspection. Loads only the driver that is needed.
 *
 * @returns undefined if there is no SQLite file yet, or nothing in it.
 * @throws {UnusableDatabase}
 */
export async function inspect(location: Location): Promise<Inspection | undefined> {
  if (location.kind === 'postgres') {
    const { inspectPostgres } = await import('./inspection/postgres.ts')
    return inspectPostgres(location.url)
  }
  const { inspectSqlite } = await import('./inspection/sqlite.ts')
  return inspectSqlite(location.path)
}

/** All migrations of this release for a kind of database. */
export async function migrationsFor({ kind }: Location): Promise<Migration[]> {
  const { readOwnMigrations } = await (kind === 'postgres'
    ? import('./postgres/migrate.ts')
    : import('./sqlite/migrate.ts'))
  return readOwnMigrations()
}
