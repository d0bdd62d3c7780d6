import { sql } from 'drizzle-orm'
import { DatabaseError } from 'pg'
import { describeLocation } from '../location.ts'
import { causeOf } from '../postgres/failure.ts'
import { prepareDatabase } from '../postgres/prepare.ts'
import { apiKeys, idempotencyKeys } from '../postgres/schema.ts'
import { lockUntilCommit } from '../postgres/transaction.ts'
import type { Pet } from '../store.ts'
import { UnusableDatabase } from '../unusable-database.ts'
import { RowsRefused, refuseSource, type SourceTable, type Target, type TargetTable } from './endpoints.ts'
import { beginCopy, type CopySession, identify } from './postgres-session.ts'
import { type Attempt, attemptOn, readableTables } from './postgres-tables.ts'

/**
 * Opens a database to copy into, which is migrated first if need be, in one transaction.
 *
 * @param source the identity of the database to copy from, which is refused.
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openTarget(url: string, source: string): Promise<Target> {
  await prepareDatabase(url)
  const attempt = attemptOn(url)
  const name = describeLocation({ kind: 'postgres', url })
  return attempt(() =>
    beginCopy(url, 'READ COMMITTED READ WRITE', async (session) => {
      refuseSource(await identify(session), source, name)
      await keepOthersOut(session)
      return {
        ...writableTables(session, attempt),
        commit: () => attempt(() => commit(session, name)),
        close: () => session.$client.end(),
      }
    }),
  )
}

/** The advisory lock of inserts protects the table of pets. It comes first, in the same order as in other transactions. */
async function keepOthersOut(session: CopySession): Promise<void> {
  await lockUntilCommit(session, 'inserts')
  await session.execute(sql`LOCK TABLE ${apiKeys}, ${idempotencyKeys} IN SHARE ROW EXCLUSIVE MODE`)
}

function writableTables(session: CopySession, attempt: Attempt): Pick<Target, 'apiKeys' | 'pets' | 'idempotencyKeys'> {
  const tables = readableTables(session, attempt)

  function writable<Row>(table: SourceTable<Row>, insert: (rows: Row[]) => Promise<unknown>): TargetTable<Row> {
    return {
      ...table,
      insert: (rows) => insertOrRefuse(() => attempt(() => insert(rows))),
      async continueAfter(id) {
        // The database may itself have given ids to rows that are gone.
        if (id > (await table.lastId())) await attempt(() => continueAfter(session, table.name, id))
      },
    }
  }

  return {
    apiKeys: writable(tables.apiKeys, async (rows) => session.insert(apiKeys).overridingSystemValue().values(rows)),
    pets: writable(tables.pets, (rows) => insertPets(session, rows)),
    idempotencyKeys: writable(tables.idempotencyKeys, async (rows) =>
      session.insert(idempotencyKeys).overridingSystemValue().values(rows),
    ),
  }
}

/** Twice as fast as by Drizzle, whose VALUES have a parameter for each value. */
async function insertPets({ $client }: CopySession, rows: Pet[]): Promise<void> {
  await $client.query({
    name: 'copy_pets',
    text: `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
      SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])`,
    values: [
      rows.map(({ id }) => id),
      rows.map(({ name }) => name),
      rows.map(({ categoryId }) => categoryId),
      rows.map(({ status }) => status),
    ],
  })
}

async function insertOrRefuse(insert: () => Promise<unknown>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    const cause = causeOf(error)
    const isRefusal = cause instanceof DatabaseError && /^2[23]/.test(cause.code ?? '')
    throw isRefusal ? new RowsRefused(cause.message, { cause }) : error
  }
}

async function continueAfter(session: CopySession, table: string, id: bigint): Promise<void> {
  await session.execute(sql`SELECT setval(pg_get_serial_sequence(${table}, 'id'), ${id})`)
}

async function commit(session: CopySession, name: string): Promise<void> {
  try {
    await session.$client.query('COMMIT')
  } catch (error) {
    if (error instanceof DatabaseError) throw error
    const uncertain = 'its connection was lost amid the commit, so that it holds all or nothing; another try will tell'
    throw new UnusableDatabase(name, uncertain, { cause: error })
  }
}
