import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { StoreObserver } from '../../store/collection/base-store.ts'
import type { Location } from '../../store/database/location.ts'
import type { MigrateOptions } from '../../store/database/migrations.ts'
import type { NewApiKey } from '../../store/keys.ts'
import { openStore } from '../../store/open.ts'
import { connect } from '../../store/sqlite/file/connection.ts'
import { databaseFixtures, isOnPostgres } from '../support/database.ts'
import { emptyDatabase, query } from '../support/postgres/databases.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { definition, type NotesStore } from './store.ts'

/** The databases of the notes. Unlike `fixtures.ts`, this module loads no service: the tests of the store use nothing else. */

const fixtures = await databaseFixtures(definition)

export const { onPostgres, onSqlite, openFileStore, openPostgres, openSqlite, openTestStore, postgresDatabase } =
  fixtures
export const { preparePostgres, prepareSqlite, prepareWrites, shareEmptiedStore, sqliteDatabase, tableNames } = fixtures
export const { testDatabase } = fixtures

const kinds = ['sqlite', 'postgres'] as const

/** The kinds of source and target of a copy. Only the Vitest project on PostgreSQL has a server. */
export const copies = kinds
  .flatMap((from) => kinds.map((to) => ({ from, to })))
  .filter(({ from, to }) => isOnPostgres || (from === 'sqlite' && to === 'sqlite'))

/** A new database, by default of the kind that the Vitest project selects. */
export async function notesDatabase(kind: Location['kind'] = isOnPostgres ? 'postgres' : 'sqlite') {
  const location: Location =
    kind === 'postgres'
      ? { kind: 'postgres', url: await emptyDatabase() }
      : { kind: 'sqlite', path: join(temporaryFolder(), 'notes.db') }
  return {
    location,
    /** Opens it as a service does. Several stores of one database are as several instances. */
    async open(observer: StoreObserver = {}, options: MigrateOptions = {}): Promise<NotesStore> {
      const store = await openStore(definition, location, { busyTimeout: 1_000, observer, ...options })
      onTestFinished(() => store.close())
      return store
    },
    /** Runs statements without the store. Returns the rows of the only one. */
    async execute(sql: string): Promise<unknown[]> {
      if (location.kind === 'postgres') return query(location.url, sql)
      const connection = connect(location.path, { busyTimeout: 1_000 })
      try {
        const statement = connection.prepare(sql)
        if (statement.reader) return statement.all()
        statement.run()
        return []
      } finally {
        connection.close()
      }
    },
    rows(table: string): Promise<unknown[]> {
      return this.execute(`SELECT * FROM ${table}`)
    },
  }
}

/** What the store keeps of a new API key with this name. */
export function keyRecord(name: string): NewApiKey {
  const hash = randomBytes(32).toString('hex')
  return { name, start: 'note_', hash, createdAt: new Date(), expiresAt: undefined, access: 'write' }
}

export const note = { body: 'Call Ann', state: 'open', priority: 1n } as const
