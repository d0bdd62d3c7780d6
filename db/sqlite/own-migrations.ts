import { type Migration, readMigrations } from '../migrations.ts'

/** What this release knows of the schema's history. */
export function readOwnMigrations(): Migration[] {
  return readMigrations(new URL('migrations', import.meta.url))
}
