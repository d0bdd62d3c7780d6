import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { Store } from '../store.ts'
import { connect } from './connection.ts'
import { storeError, toFailure } from './failure.ts'
import { prepareDatabase } from './prepare.ts'
import { apiKeys, pets } from './schema.ts'
import { Writer, type WriterOptions } from './writer.ts'

/**
 * Opens a store in an SQLite file, which is created or migrated first if need be. Reads run here, on a connection that
 * cannot write and, in WAL mode, never waits for the writer; writes run in a thread of their own.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export function openSqliteStore(options: WriterOptions): Store {
  prepareDatabase(options.path)
  const connection = connect(options.path, { readonly: true, busyTimeout: 100 })
  const db = drizzle({ client: connection })
  const writer = new Writer(options)

  const afterCursor = gt(pets.id, sql.placeholder('cursor'))
  const inOrder = asc(pets.id)
  const limit = sql.placeholder('limit')
  const listAll = db.select().from(pets).where(afterCursor).orderBy(inOrder).limit(limit).prepare()
  const withStatus = and(eq(pets.status, sql.placeholder('status')), afterCursor)
  const listByStatus = db.select().from(pets).where(withStatus).orderBy(inOrder).limit(limit).prepare()
  const getPet = db
    .select()
    .from(pets)
    .where(eq(pets.id, sql.placeholder('id')))
    .prepare()
  const findApiKey = db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .prepare()
  const listApiKeys = db.select().from(apiKeys).orderBy(asc(apiKeys.id)).prepare()

  return {
    pets: {
      list: (query) => read(() => (query.status ? listByStatus : listAll).all({ ...query })),
      get: (id) => read(() => getPet.get({ id })),
      create: (pet) => writer.run('createPet', pet),
    },
    apiKeys: {
      find: (hash) => read(() => findApiKey.get({ hash })),
      list: () => read(() => listApiKeys.all()),
      create: (key) => writer.run('createApiKey', key),
      createFirst: (key) => writer.run('createFirstApiKey', key),
      register: (key) => writer.run('registerApiKey', key),
      revoke: (id, at) => writer.run('revokeApiKey', id, at),
      rotate: (id, successor) => writer.run('rotateApiKey', id, successor),
      touch: (id, at) => writer.run('touchApiKey', id, at),
    },
    async close() {
      connection.close()
      await writer.close()
    },
  }
}

async function read<T>(query: () => T): Promise<T> {
  try {
    return query()
  } catch (error) {
    throw storeError(toFailure(error))
  }
}
