import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { toEntity } from '../collection/entity.ts'
import type { PostgresEngine } from '../postgres/engine.ts'
import { rowsOf } from '../postgres/statements.ts'
import { postgresTableOf } from '../postgres/table.ts'
import { inTransaction, lockUntilCommit } from '../postgres/transaction.ts'
import type { ApiKey, ApiKeyStore, NewApiKey } from './store.ts'
import { apiKeys as table } from './table.ts'

/** Milliseconds for which a revision holds: other instances change keys, too. The notifications of a trigger are for older releases. */
const maxAge = 1_000

const apiKeys = postgresTableOf(table)

export function open({ pool, read, failures }: PostgresEngine): ApiKeyStore {
  const db = drizzle({ client: pool })
  let revision = 0
  let renewedAt = 0

  function renew(): void {
    revision++
    renewedAt = performance.now()
  }

  /** A change of this instance acts at once. */
  async function change<T>(work: Promise<T>): Promise<T> {
    try {
      return await failures.write(work)
    } finally {
      renew()
    }
  }

  return {
    find: rowsOf(read, apiKeys, 'hash'),
    async list() {
      const rows = await failures.read(db.select().from(apiKeys).orderBy(asc(apiKeys.id)))
      return rows.map((row) => toEntity<typeof apiKeys>(row))
    },
    create: (key) => failures.write(create(db, key)),
    createFirst: (key) => failures.write(inTransaction(pool, (transaction) => createFirst(transaction, key))),
    register: (key) => failures.write(register(db, key)),
    revoke: (id, at) => change(revoke(db, id, at)),
    rotate: (id, successor) =>
      change(
        inTransaction(pool, async (transaction) => {
          if (!(await revoke(transaction, id, successor.createdAt))) return false
          await create(transaction, successor)
          return true
        }),
      ),
    touch: (id, lastUsedAt) => failures.write(touch(db, id, lastUsedAt)),
    revision() {
      if (performance.now() - renewedAt > maxAge) renew()
      return revision
    },
  }
}

async function create(db: NodePgDatabase, key: NewApiKey): Promise<ApiKey> {
  const [created] = await db.insert(apiKeys).values(key).returning()
  if (!created) throw new Error('PostgreSQL did not return the API key.')
  return toEntity<typeof apiKeys>(created)
}

/** If several instances start at the same time, the lock ensures that only one creates the key. */
async function createFirst(db: NodePgDatabase, key: NewApiKey): Promise<boolean> {
  await lockUntilCommit(db, 'firstApiKey')
  const [any] = await db.select({ id: apiKeys.id }).from(apiKeys).limit(1)
  if (any) return false
  await create(db, key)
  return true
}

async function register(db: NodePgDatabase, key: NewApiKey): Promise<boolean> {
  const { rowCount } = await db.insert(apiKeys).values(key).onConflictDoNothing({ target: apiKeys.hash })
  return rowCount === 1
}

async function revoke(db: NodePgDatabase, id: bigint, revokedAt: Date): Promise<boolean> {
  const unrevoked = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt))
  const { rowCount } = await db.update(apiKeys).set({ revokedAt }).where(unrevoked)
  return rowCount === 1
}

/** The commit waits neither for the disk nor for a standby, because a time of use may be lost. */
async function touch(db: NodePgDatabase, id: bigint, lastUsedAt: Date): Promise<void> {
  const commitsLater = sql`set_config('synchronous_commit', 'off', true) IS NOT NULL`
  await db
    .update(apiKeys)
    .set({ lastUsedAt })
    .where(and(eq(apiKeys.id, id), commitsLater))
}
