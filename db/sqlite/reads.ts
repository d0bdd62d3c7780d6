import type Database from 'better-sqlite3'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { isUpToDate } from '../migrate.ts'
import type { ApiKey, Pet, PetQuery } from '../store.ts'
import { readOwnMigrations } from './own-migrations.ts'
import { apiKeys, pets } from './schema.ts'

/** Every statement that only reads. */
export function prepareReads(connection: Database.Database) {
  const db = drizzle({ client: connection })
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
  const migrations = readOwnMigrations()
  const begin = connection.prepare('BEGIN')
  const rollback = connection.prepare('ROLLBACK')
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck().safeIntegers(false)
  const listApiKeys = db.select().from(apiKeys).orderBy(asc(apiKeys.id)).prepare()

  return {
    listPets: (query: PetQuery): Pet[] => (query.status ? listByStatus : listAll).all({ ...query }),
    getPet: (id: bigint): Pet | undefined => getPet.get({ id }),
    findApiKey: (hash: string): ApiKey | undefined => findApiKey.get({ hash }),
    listApiKeys: (): ApiKey[] => listApiKeys.all(),
    begin: () => begin.run(),
    rollback: () => rollback.run(),
    /** Changes with each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version). */
    dataVersion: (): number | undefined => dataVersion.get(),
    hasOwnSchema: (): boolean => isUpToDate(connection, migrations),
  }
}

export type Reads = ReturnType<typeof prepareReads>
