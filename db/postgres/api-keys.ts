import { and, asc, eq, isNull, ne, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pool } from 'pg'
import {
  type ApiKey,
  type ApiKeyStore,
  importerHash,
  KeyRevoked,
  type NewApiKey,
  type StoreObserver,
} from '../store.ts'
import { batchReads } from './batch-reads.ts'
import { mapErrors, mapWriteErrors } from './failure.ts'
import { KeyRevision } from './key-revision.ts'
import { apiKeys } from './schema.ts'
import { inTransaction, lockUntilCommit } from './transaction.ts'

const isKey = ne(apiKeys.hash, importerHash)

export function openApiKeys(
  pool: Pool,
  url: string,
  observer: StoreObserver | undefined,
): ApiKeyStore & { close(): Promise<void> } {
  const db = drizzle({ client: pool })
  const findByHash = db
    .select()
    .from(apiKeys)
    .where(sql`${apiKeys.hash} = ANY (${sql.placeholder('hashes')})`)
    .prepare('find_api_keys')
  const find = batchReads(
    (hash: string) => hash,
    async (hashes) => new Map((await findByHash.execute({ hashes })).map((key) => [key.hash, key])),
  )
  const revision = new KeyRevision(url)
  const write = <T>(work: Promise<T>) => mapWriteErrors(work, observer)

  /** Renews the revision of this instance at once, because its notification arrives after the change has ended. */
  async function change<T>(work: Promise<T>): Promise<T> {
    try {
      return await write(work)
    } finally {
      revision.renew()
    }
  }

  return {
    find: (hash) => mapErrors(find(hash)),
    list: () => mapErrors(db.select().from(apiKeys).where(isKey).orderBy(asc(apiKeys.id))),
    create: (key) => write(create(db, key)),
    createFirst: (key) => write(inTransaction(pool, (transaction) => createFirst(transaction, key))),
    register: (key) => write(register(db, key)),
    revoke: (id, at) => change(revoke(db, id, at)),
    rotate: (id, successor) =>
      change(
        inTransaction(pool, async (transaction) => {
          await revoke(transaction, id, successor.createdAt)
          return create(transaction, successor)
        }),
      ),
    touch: (id, lastUsedAt) => write(touch(db, id, lastUsedAt)),
    revision: () => revision.current(),
    close: () => revision.close(),
  }
}

async function create(db: NodePgDatabase, key: NewApiKey): Promise<ApiKey> {
  const [created] = await db.insert(apiKeys).values(key).returning()
  if (!created) throw new Error('PostgreSQL did not return the API key.')
  return created
}

/** If several instances start at the same time, the lock ensures that only one creates the key. */
async function createFirst(db: NodePgDatabase, key: NewApiKey): Promise<boolean> {
  await lockUntilCommit(db, 'firstApiKey')
  const [any] = await db.select({ id: apiKeys.id }).from(apiKeys).where(isKey).limit(1)
  if (any) return false
  await create(db, key)
  return true
}

async function register(db: NodePgDatabase, key: NewApiKey): Promise<boolean> {
  const inserted = await db
    .insert(apiKeys)
    .values(key)
    .onConflictDoNothing({ target: apiKeys.hash })
    .returning({ id: apiKeys.id })
  return inserted.length > 0
}

async function revoke(db: NodePgDatabase, id: bigint, revokedAt: Date): Promise<void> {
  const unrevoked = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt))
  const revoked = await db.update(apiKeys).set({ revokedAt }).where(unrevoked).returning({ id: apiKeys.id })
  if (revoked.length === 0) throw new KeyRevoked('The API key was revoked meanwhile.')
}

async function touch(db: NodePgDatabase, id: bigint, lastUsedAt: Date): Promise<void> {
  await db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id))
}
