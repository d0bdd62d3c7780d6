import { describeLocation, type Location, type StoreDefinition } from '#store'
import {
  type Inspection,
  inspect,
  type Migration,
  type SchemaState,
  type TableContents,
  type TableSummary,
} from '#store/operations'
import { alignColumns, count, describeSize } from '../operator/format.ts'
import { OperatorError } from '../operator/operator-error.ts'

export interface DatabaseStatus {
  kind: Location['kind']
  /** The path of the file, or the URL without its password. */
  location: string
  /** The newest migration; null if the database does not exist yet. */
  schema: string | null
  /** The names of the pending migrations. */
  pending: string[]
  /** Why this release cannot use the schema; null if it can. */
  problem: string | null
  /** Bytes. Only SQLite has a write-ahead log of its own. */
  bytes: { database: number; log?: number }
  /** The number of rows of each resource. Null if the schema is missing or cannot be used. */
  rows: Record<string, number> | null
  /** The greatest id of each resource, null without a row. */
  newestIds: Record<string, bigint | null> | null
}

/** @throws {UnusableDatabase} if the database cannot be read. */
export async function readStatus(definition: StoreDefinition, location: Location): Promise<DatabaseStatus> {
  const { kind } = location
  return inspecting(definition, location, async (inspection, { applied, pending, problem }) => {
    const isUsable = inspection && applied.length > 0 && problem === undefined
    const contents = isUsable ? Object.entries(await inspection.contents()) : undefined
    const ofEach = <T>(read: (contents: TableContents) => T) =>
      contents
        ? Object.fromEntries(contents.map(([name, each]) => [name === 'apiKeys' ? 'keys' : name, read(each)]))
        : null
    return {
      kind,
      location: describeLocation(location),
      schema: applied.at(-1) ?? null,
      pending: pending.map(({ name }) => name),
      problem: problem ?? null,
      bytes: (await inspection?.bytes()) ?? { database: 0 },
      rows: ofEach(({ rows }) => rows),
      newestIds: ofEach(({ newestId }) => newestId),
    }
  })
}

/** Runs `use`, and closes the inspection. A database that does not exist yet has no inspection. */
async function inspecting<T>(
  definition: StoreDefinition,
  location: Location,
  use: (inspection: Inspection | undefined, schema: SchemaState) => Promise<T>,
): Promise<T> {
  const inspection = await inspect(definition, location)
  if (!inspection)
    return use(undefined, { applied: [], pending: definition.migrationsFor(location.kind), problem: undefined })
  try {
    return await use(inspection, await inspection.schema())
  } finally {
    await inspection.close()
  }
}

/** @param more rows of the table. */
export function describeStatus(
  { names }: StoreDefinition,
  { kind, location, schema, pending, problem, bytes, rows, newestIds }: DatabaseStatus,
  ...more: string[][]
): string {
  const contentsOf = (name: string) => {
    const newestId = newestIds?.[name] ?? null
    return `${rows?.[name] ?? '-'}${newestId === null ? '' : ` (newest id ${newestId})`}`
  }
  return alignColumns([
    ['Database', `${location} (${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`],
    ['Schema', schema ?? 'does not exist yet'],
    ...(problem === null ? [] : [['Problem', problem]]),
    ['Pending', pending.length === 0 ? 'nothing' : pending.join(', ')],
    ['Size', describeSize(bytes.database)],
    ...(bytes.log === undefined ? [] : [['Write-ahead log', describeSize(bytes.log)]]),
    ...names
      .filter((name) => name !== 'apiKeys')
      .map((name) => [name.charAt(0).toUpperCase() + name.slice(1), contentsOf(name)]),
    ['API keys', contentsOf('keys')],
    ...more,
  ])
}

/**
 * @throws {OperatorError} if this release cannot use the schema.
 * @throws {UnusableDatabase} if the database cannot be read.
 */
export async function readPending(definition: StoreDefinition, location: Location): Promise<Migration[]> {
  return inspecting(definition, location, async (_inspection, { pending, problem }) => {
    if (problem !== undefined)
      throw new OperatorError(`The schema of ${describeLocation(location)} cannot be migrated: ${problem}.`)
    return pending
  })
}

/** Shows the SQL of the migrations. */
export function describeMigrations({ kind }: Location, migrations: Migration[]): string {
  if (migrations.length === 0) return 'The schema is up to date. There is nothing to migrate.'
  return [
    kind === 'sqlite'
      ? '-- All migrations run in one transaction, which locks the file for writing. Reads go on.'
      : '-- All migrations run in one transaction, which holds its locks until it ends.',
    ...migrations.flatMap(({ name, sql }) => [`\n-- ${name}`, sql.trimEnd()]),
  ].join('\n')
}

/** @param from and `to` are paths, or URLs without passwords */
export function describeCopy({ from, to, tables }: { from: string; to: string; tables: TableSummary[] }): string {
  return [
    `Copied ${from} to ${to}. After reading back, both contain:`,
    ...tables.map(({ name, rows, sha256 }) => `  ${name}: ${count(rows, 'row')}, SHA-256 ${sha256.slice(0, 12)}…`),
  ].join('\n')
}
