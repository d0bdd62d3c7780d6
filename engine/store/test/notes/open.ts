import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { isOnPostgres } from '../../../../test/support/database.ts'
import { emptyDatabase, query } from '../../../../test/support/postgres/databases.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import type { StoreObserver } from '../../collection/base-store.ts'
import type { Location } from '../../database/location.ts'
import { openStore } from '../../open.ts'
import { connect } from '../../sqlite/file/connection.ts'
import { definition, type NotesStore } from './definition.ts'

/** A new database of the kind that the Vitest project selects. */
export async function notesDatabase() {
  const location: Location = isOnPostgres
    ? { kind: 'postgres', url: await emptyDatabase() }
    : { kind: 'sqlite', path: join(temporaryFolder(), 'notes.db') }
  return {
    location,
    /** Opens it as a service does. Several stores of one database are as several instances. */
    async open(observer: StoreObserver = {}): Promise<NotesStore> {
      const store = await openStore(definition, location, { busyTimeout: 1_000, observer })
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
  }
}

export const note = { body: 'Call Ann', state: 'open', priority: 1n } as const
