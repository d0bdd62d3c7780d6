import type { Command } from 'commander'
import { describeLocation, type Location, migrateStore } from '#store'
import { copyStore } from '#store/operations'
import { describeRows, listOf, withProgress } from '../operator/format.ts'
import { parseLocation } from '../operator/location.ts'
import { addHelp, type Cli } from './cli.ts'
import { describeCopy, describeMigrations, describeStatus, readPending, readStatus } from './database-status.ts'
import { auditOf, reportsOn } from './open-store.ts'
import { type JsonOption, jsonOption, printAs } from './output.ts'

const settings = ['databaseUrl'] as const

export function addDatabaseCommands(program: Command, cli: Cli): void {
  const databases = program.command('db').description('manage databases')
  addHelp(cli, databases, { examples: ['db status', 'db migrate --dry-run'] })
  const { names } = cli.definition
  const contents = listOf([...names.filter((name) => name !== 'apiKeys'), 'keys'])
  addStatusCommand(databases, cli, contents)
  addMigrateCommand(databases, cli)
  addCopyCommand(databases, cli, contents)
}

function addStatusCommand(databases: Command, cli: Cli, contents: string): void {
  const { configuration, definition } = cli
  const status = databases
    .command('status')
    .description(`show the schema, the size and the number of ${contents}`)
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const status = await readStatus(definition, configuration.readConfig().database)
      printAs(options, status, () => describeStatus(definition, status))
    })
  addHelp(cli, status, { examples: ['db status', 'db status --json'], settings })
}

function addMigrateCommand(databases: Command, cli: Cli): void {
  const { configuration, definition } = cli
  const migrate = databases
    .command('migrate')
    .description('apply the pending migrations, as a start of the service does')
    .option('--dry-run', 'print the pending migrations and their SQL, and change nothing')
    .option(...jsonOption)
    .action(async ({ dryRun = false, ...options }: JsonOption & { dryRun?: boolean }) => {
      const config = configuration.readConfig()
      const { database } = config
      const pending = await readPending(definition, database)
      const isApplied = !dryRun && pending.length > 0
      const { historyDays } = config
      if (isApplied) await migrateStore(definition, database, { historyDays, ...reportsOn(database, auditOf(config)) })
      const migrations = pending.map(({ name, sql }) => ({ name, sql }))
      printAs(options, { dryRun, migrations }, () =>
        isApplied ? pending.map(({ name }) => `Applied ${name}.`).join('\n') : describeMigrations(database, pending),
      )
    })
  addHelp(cli, migrate, { examples: ['db migrate --dry-run', 'db migrate'], settings })
}

function addCopyCommand(databases: Command, cli: Cli, contents: string): void {
  const { product, configuration, definition } = cli
  const { command } = product
  const copying = databases
    .command('copy')
    .description(
      `copy all ${contents} into an empty SQLite or PostgreSQL database; stop the service first, because later writes are not copied`,
    )
    .requiredOption(
      ...locationOption(command, '--from', `the database to copy, such as file:data/${command}.db; it is not changed`),
    )
    .requiredOption(
      ...locationOption(
        command,
        '--to',
        `the empty database, such as postgres://user@host/${command}; an SQLite file is created`,
      ),
    )
    .option(...jsonOption)
    .action(async ({ from, to, ...options }: JsonOption & { from: Location; to: Location }) => {
      const audit = auditOf(configuration.readConfig())
      const [source, target] = [describeLocation(from), describeLocation(to)]
      const onMigrate = (migrations: string[]) => audit('database.migrate', target, { migrations })
      const tables = await withProgress(describeRows, (onProgress) =>
        copyStore({ definition, from, to, onMigrate, onProgress }),
      )
      const rows = tables.reduce((sum, { rows }) => sum + rows, 0)
      audit('database.copy', target, { from: source, rows })
      printAs(options, { from: source, to: target, tables }, describeCopy)
    })
  addHelp(cli, copying, {
    examples: ['$0 db copy --from file:data/$0.db --to postgres://$0@db.example/$0'],
  })
}

function locationOption(command: string, name: string, description: string) {
  return [`${name} <database>`, description, (text: string) => parseLocation(command, text, name)] as const
}
