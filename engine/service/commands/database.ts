import type { Command } from 'commander'
import { describeLocation, type Location, migrateStore, type StoreDefinition } from '#store'
import {
  copyStore,
  type Inspection,
  inspect,
  type Migration,
  type SchemaState,
  type TableContents,
  type TableSummary,
} from '#store/operator'
import { alignColumns, count, describeRows, describeSize, withProgress } from '../operator/format.ts'
import { parseLocation } from '../operator/location.ts'
import { OperatorError } from '../operator/operator-error.ts'
import { joinWords } from '../reader/texts.ts'
import { addCommand, type Cli, withHelp } from './cli.ts'
import { auditOf, reportsOn } from './open-store.ts'
import { type JsonOption, printAs } from './output.ts'

export function addDatabaseCommands(program: Command, cli: Cli): void {
  const { product, configuration, definition } = cli
  const { command } = product
  const databases = withHelp(cli, program.command('db'), 'manage databases', ['db status', 'db migrate --dry-run'])
  const contents = joinWords([...resourcesOf(definition), 'keys'])

  const showing = `show the schema, the size and the number of ${contents}`
  addCommand(cli, databases, 'status', showing, ['db status', 'db status --json']).action(
    async (options: JsonOption) => {
      const status = await readStatus(definition, configuration.readForCommand().database)
      printAs(options, status, () => describeStatus(definition, status))
    },
  )

  const migrating = 'apply the pending migrations, as a start of the service does'
  addCommand(cli, databases, 'migrate', migrating, ['db migrate --dry-run', 'db migrate'])
    .option('--dry-run', 'print the pending migrations and their SQL, and change nothing')
    .action(async ({ dryRun = false, ...options }: JsonOption & { dryRun?: boolean }) => {
      const config = configuration.readForCommand()
      const { database, historyDays } = config
      const pending = await readPending(definition, database)
      const isApplied = !dryRun && pending.length > 0
      if (isApplied) await migrateStore(definition, database, { historyDays, ...reportsOn(database, auditOf(config)) })
      const migrations = pending.map(({ name, sql }) => ({ name, sql }))
      printAs(options, { dryRun, migrations }, () =>
        isApplied ? pending.map(({ name }) => `Applied ${name}.`).join('\n') : describeMigrations(database, pending),
      )
    })

  const location = (option: string) => (text: string) => parseLocation(command, text, option)
  const copying = `copy all ${contents} into an empty SQLite or PostgreSQL database; stop the service first, because later writes are not copied`
  const copies = ['$0 db copy --from file:data/$0.db --to postgres://$0@db.example/$0']
  addCommand(cli, databases, 'copy', copying, copies, [])
    .requiredOption(
      '--from <database>',
      `the database to copy, such as file:data/${command}.db; it is not changed`,
      location('--from'),
    )
    .requiredOption(
      '--to <database>',
      `the empty database, such as postgres://user@host/${command}; an SQLite file is created`,
      location('--to'),
    )
    .action(async ({ from, to, ...options }: JsonOption & { from: Location; to: Location }) => {
      const audit = auditOf(configuration.readForCommand())
      const [source, target] = [describeLocation(from), describeLocation(to)]
      const onMigrate = (migrations: string[]) => audit('database.migrate', target, { migrations })
      const tables = await withProgress(describeRows, (onProgress) =>
        copyStore({ definition, from, to, onMigrate, onProgress }),
      )
      const rows = tables.reduce((sum, { rows }) => sum + rows, 0)
      audit('database.copy', target, { from: source, rows })
      printAs(options, { from: source, to: target, tables }, describeCopy)
    })
}

function resourcesOf({ collections }: StoreDefinition): string[] {
  return Object.keys(collections).filter((name) => name !== 'apiKeys')
}

type DatabaseStatus = Awaited<ReturnType<typeof readStatus>>

export async function readStatus(definition: StoreDefinition, location: Location) {
  const { kind } = location
  return inspecting(definition, location, async (inspection, { applied, pending, problem }) => {
    // Only SQLite has a write-ahead log of its own.
    const bytes: { database: number; log?: number } = (await inspection?.bytes()) ?? { database: 0 }
    const isUsable = inspection && applied.length > 0 && problem === undefined
    const contents = isUsable ? Object.entries(await inspection.contents()) : undefined
    const ofEach = <T>(read: (contents: TableContents) => T) =>
      contents
        ? Object.fromEntries(contents.map(([name, each]) => [name === 'apiKeys' ? 'keys' : name, read(each)]))
        : null
    return {
      kind,
      /** The path of the file, or the URL without its password. */
      location: describeLocation(location),
      /** The newest migration; null if the database does not exist yet. */
      schema: applied.at(-1) ?? null,
      pending: pending.map(({ name }) => name),
      /** Why this release cannot use the schema; null if it can. */
      problem: problem ?? null,
      bytes,
      /** Null if the schema is missing or cannot be used. */
      rows: ofEach(({ rows }) => rows),
      /** The greatest id of each resource, null without a row. */
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

export function describeStatus(
  definition: StoreDefinition,
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
    ...resourcesOf(definition).map((name) => [name.charAt(0).toUpperCase() + name.slice(1), contentsOf(name)]),
    ['API keys', contentsOf('keys')],
    ...more,
  ])
}

export async function readPending(definition: StoreDefinition, location: Location): Promise<Migration[]> {
  return inspecting(definition, location, async (_inspection, { pending, problem }) => {
    if (problem !== undefined)
      throw new OperatorError(`The schema of ${describeLocation(location)} cannot be migrated: ${problem}.`)
    return pending
  })
}

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
function describeCopy({ from, to, tables }: { from: string; to: string; tables: TableSummary[] }): string {
  return [
    `Copied ${from} to ${to}. After reading back, both contain:`,
    ...tables.map(({ name, rows, sha256 }) => `  ${name}: ${count(rows, 'row')}, SHA-256 ${sha256.slice(0, 12)}…`),
  ].join('\n')
}
