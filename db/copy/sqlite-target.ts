import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { connect, orClose } from '../sqlite/connection.ts'
import { toFailure } from '../sqlite/failure.ts'
import { identify, syncFolder } from '../sqlite/files.ts'
import { prepareDatabase } from '../sqlite/prepare.ts'
import { realPathOf } from '../sqlite/real-path.ts'
import { apiKeys, idempotencyKeys, pets } from '../sqlite/schema.ts'
import { RowsRefused, refuseSource, type SourceTable, type Target, type TargetTable } from './endpoints.ts'
import { type Attempt, attemptOn, readableTables } from './sqlite-tables.ts'

/**
 * Opens a database to copy into, which is created or migrated first if need be, in one transaction.
 *
 * @param source the identity of the database to copy from, which is refused.
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openTarget(path: string, source: string): Promise<Target> {
  const attempt = attemptOn(path)
  await attempt(() => refuseSource(identify(path), source, path))
  prepareDatabase(path)
  return attempt(() => {
    const connection = connect(path, { busyTimeout: 5_000 })
    return orClose(connection, () => {
      connection.exec('BEGIN IMMEDIATE')
      return {
        ...writableTables(connection, attempt),
        commit: () =>
          attempt(() => {
            connection.exec('COMMIT')
            syncFolder(dirname(realPathOf(path)))
          }),
        async close() {
          connection.close()
        },
      }
    })
  })
}

function writableTables(
  connection: Database.Database,
  attempt: Attempt,
): Pick<Target, 'apiKeys' | 'pets' | 'idempotencyKeys'> {
  const db = drizzle({ client: connection })
  const tables = readableTables(connection, attempt)

  function writable<Row>(table: SourceTable<Row>, insert: (rows: Row[]) => unknown): TargetTable<Row> {
    return {
      ...table,
      insert: (rows) => attempt(() => insertOrRefuse(() => insert(rows))),
      continueAfter: (id) => attempt(() => continueAfter(connection, table.name, id)),
    }
  }

  return {
    apiKeys: writable(tables.apiKeys, (rows) => db.insert(apiKeys).values(rows).run()),
    pets: writable(tables.pets, (rows) => db.insert(pets).values(rows).run()),
    idempotencyKeys: {
      ...writable(tables.idempotencyKeys, (rows) => db.insert(idempotencyKeys).values(rows).run()),
      // Its ids follow the highest one that is there.
      continueAfter: async () => {},
    },
  }
}

function insertOrRefuse(insert: () => unknown): void {
  try {
    insert()
  } catch (error) {
    const { code, message } = toFailure(error)
    throw code.startsWith('SQLITE_CONSTRAINT') ? new RowsRefused(message, { cause: error }) : error
  }
}

/** Inserting has raised the number to the highest id; it is missing if nothing was inserted. */
function continueAfter(connection: Database.Database, table: string, id: bigint): void {
  const { changes } = connection
    .prepare('UPDATE sqlite_sequence SET seq = max(CAST(seq AS INTEGER), ?) WHERE name = ?')
    .run(id, table)
  if (changes === 0) connection.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, id)
}
