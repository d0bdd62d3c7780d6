import type Database from 'better-sqlite3'
import { and, asc, eq, gt, ne, type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { type CountRow, countStatement, toPetCounts } from '../counts.ts'
import { isUpToDate, otherRelease } from '../migrations.ts'
import { type ApiKey, importerHash, type Pet, type PetCounts, type PetQuery, type PetStatus } from '../store.ts'
import { findMissingPart, readJournal, readOwnMigrations } from './migrate.ts'
import { apiKeys, boundLimit, pets } from './schema.ts'

/** Exported for a test of its query plan. */
export const countPets = countStatement((status) => `SELECT id FROM pets WHERE status = '${status}'`)

/** Prepares every statement that only reads. Each read is one statement, and so one snapshot. */
export function prepareReads(connection: Database.Database) {
  const db = drizzle({ client: connection })
  const { id, name, categoryId, status } = pets
  const selectPets = () => db.select({ id, name, categoryId, status }).from(pets)
  const page = (where?: SQL) => selectPets().where(where).orderBy(asc(id)).limit(boundLimit('limit'))
  const afterCursor = gt(id, sql.placeholder('cursor'))
  const listAll = prepareRows<[cursor: bigint, limit: number], PetRow>(connection, page(afterCursor))
  const listByStatus = prepareRows<[status: PetStatus, cursor: bigint, limit: number], PetRow>(
    connection,
    page(and(eq(status, sql.placeholder('status')), afterCursor)),
  )
  const getPet = prepareRows<[id: bigint], PetRow>(connection, selectPets().where(eq(id, sql.placeholder('id'))))
  const counts = connection.prepare<[], CountRow>(countPets).raw()
  // In the order of ApiKeyRow.
  const { start, hash, createdAt, expiresAt, revokedAt, lastUsedAt } = apiKeys
  const keyColumns = { id: apiKeys.id, name: apiKeys.name, start, hash, createdAt, expiresAt, revokedAt, lastUsedAt }
  const keyByHash = db
    .select(keyColumns)
    .from(apiKeys)
    .where(eq(hash, sql.placeholder('hash')))
  const findApiKey = prepareRows<[hash: string], ApiKeyRow>(connection, keyByHash)
  const migrations = readOwnMigrations()
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck().safeIntegers(false)
  const listApiKeys = db.select().from(apiKeys).where(ne(hash, importerHash)).orderBy(asc(apiKeys.id)).prepare()

  return {
    listPets({ status, cursor, limit }: PetQuery): Pet[] {
      const rows = status ? listByStatus.all(status, cursor, limit) : listAll.all(cursor, limit)
      return rows.map(toPet)
    },
    getPet(id: bigint): Pet | undefined {
      const row = getPet.get(id)
      return row && toPet(row)
    },
    countPets(): PetCounts {
      // Safe: a SELECT without FROM returns one row.
      return toPetCounts(counts.get() as CountRow)
    },
    findApiKey(hash: string): ApiKey | undefined {
      const row = findApiKey.get(hash)
      return row && toApiKey(row)
    },
    listApiKeys: (): ApiKey[] => listApiKeys.all(),
    /** Changes with each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version). */
    dataVersion: (): number | undefined => dataVersion.get(),
    /** Why this release cannot use the schema; undefined if it can. */
    schemaProblem: (): string | undefined =>
      isUpToDate(readJournal(connection), migrations) ? findMissingPart(connection) : otherRelease,
  }
}

type PetRow = [id: bigint, name: string, categoryId: bigint, status: PetStatus]

/** Times are ISO 8601 text. */
type ApiKeyRow = [
  id: bigint,
  name: string,
  start: string,
  hash: string,
  createdAt: string,
  expiresAt: string | null,
  revokedAt: string | null,
  lastUsedAt: string | null,
]

/** Drizzle generates the SQL. Its mapping of rows takes as long as SQLite takes to find them, so it is bypassed here. */
function prepareRows<Parameters extends unknown[], Row>(
  connection: Database.Database,
  query: { toSQL(): { sql: string } },
) {
  return connection.prepare<Parameters, Row>(query.toSQL().sql).raw()
}

function toPet([id, name, categoryId, status]: PetRow): Pet {
  return { id, name, categoryId, status }
}

function toApiKey([id, name, start, hash, createdAt, expiresAt, revokedAt, lastUsedAt]: ApiKeyRow): ApiKey {
  return {
    id,
    name,
    start,
    hash,
    createdAt: new Date(createdAt),
    expiresAt: toDate(expiresAt),
    revokedAt: toDate(revokedAt),
    lastUsedAt: toDate(lastUsedAt),
  }
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

export type Reads = ReturnType<typeof prepareReads>
