import type { Loaded } from '../database/loaded.ts'
import type { PostgresCollection } from '../postgres/collection.ts'
import { connectClient } from '../postgres/connection/connection.ts'
import { orUnusable, urlWithoutPassword } from '../postgres/connection/failure.ts'
import { findMissingPart, hasTable, readApplied } from '../postgres/migrate.ts'
import { databaseSize, query } from '../postgres/statements.ts'
import { inspectionOf } from './inspection.ts'

/** Milliseconds. Counting the rows of a large table takes longer than the statements of requests may take. */
const timeout = 60_000

export interface ServerState {
  /** Such as `18.4`. */
  version: string
  encoding: string
  /** Whether the sessions of this user are read-only by default. */
  isReadOnly: boolean
}

/** May reject, as its methods: {@link UnusableDatabase}. */
export async function inspectPostgres(url: string, loaded: Loaded<PostgresCollection>) {
  const run = <T>(step: () => Promise<T>) => orUnusable(url, step)
  const config = { application_name: loaded.program, query_timeout: timeout }
  const client = await run(() => connectClient(url, config, { statement_timeout: timeout }))
  const common = inspectionOf({
    name: urlWithoutPassword(url),
    ...loaded,
    hasTable: (table) => run(() => hasTable(client, table)),
    query: (statement) => run(() => query(client, statement)),
    readApplied: () => run(() => readApplied(client)),
    findMissingPart: () => run(() => findMissingPart(client, loaded.collections)),
  })
  return {
    kind: 'postgres' as const,
    ...common,
    bytes: () => run(async () => ({ database: await databaseSize(client) })),
    async server(): Promise<ServerState> {
      const select = `SELECT current_setting('server_version') AS version,
        current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') = 'on' AS "isReadOnly"`
      const { rows } = await run(() => client.query<ServerState>(select))
      const [state] = rows
      if (!state) throw new Error('A SELECT without FROM returned no row.')
      return state
    },
    close: () => client.end(),
  }
}
