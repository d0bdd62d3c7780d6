import type { Command } from 'commander'
import { describeLocation, type Location } from '../../db/location.ts'
import { migrateStore } from '../../db/open.ts'
import type { ResourceList } from '../../db/resource-list.ts'
import { readConfig } from '../config.ts'
import { copy, describeCopy, describeMigrations, describeStatus, readPending, readStatus } from '../ops/database.ts'
import { listOf } from '../ops/format.ts'
import { parseLocation } from '../ops/location.ts'
import { describeRows, withProgress } from '../ops/progress.ts'
import { auditOf, reportsOn } from './open-store.ts'
import { addHelp, type JsonOption, jsonOption, printAs } from './output.ts'

const variables = ['DATABASE_URL'] as const

export function addDatabaseCommands(program: Command, resources: ResourceList): void {
  const databases = program.command('db').description('manage databases')
  addHelp(databases, { examples: ['petstore db status', 'petstore db migrate --dry-run'] })
  const { names } = resources
  const contents = listOf([...names.filter((name) => name !== 'apiKeys'), 'keys'])
  addStatusCommand(databases, resources, contents)
  addMigrateCommand(databases, resources)
  addCopyCommand(databases, resources, contents)
}

function addStatusCommand(databases: Command, resources: ResourceList, contents: string): void {
  const status = databases
    .command('status')
    .description(`show the schema, the size and the number of ${contents}`)
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const status = await readStatus(resources, readConfig().database)
      printAs(options, status, () => describeStatus(resources, status))
    })
  addHelp(status, { examples: ['petstore db status', 'petstore db status --json'], variables })
}

function addMigrateCommand(databases: Command, resources: ResourceList): void {
  const migrate = databases
    .command('migrate')
    .description('apply the pending migrations, as a start of the service does')
    .option('--dry-run', 'print the pending migrations, their SQL and what they lock, and change nothing')
    .option(...jsonOption)
    .action(async ({ dryRun = false, ...options }: JsonOption & { dryRun?: boolean }) => {
      const config = readConfig()
      const { database } = config
      const pending = await readPending(resources, database)
      const isApplied = !dryRun && pending.length > 0
      if (isApplied) await migrateStore(resources, database, reportsOn(database, auditOf(config)))
      const migrations = pending.map(({ name, sql, locks }) => ({ name, sql, locks: locks ?? null }))
      printAs(options, { dryRun, migrations }, () =>
        isApplied ? pending.map(({ name }) => `Applied ${name}.`).join('\n') : describeMigrations(database, pending),
      )
    })
  addHelp(migrate, { examples: ['petstore db migrate --dry-run', 'petstore db migrate'], variables })
}

function addCopyCommand(databases: Command, resources: ResourceList, contents: string): void {
  const copying = databases
    .command('copy')
    .description(
      `copy all ${contents} into an empty SQLite or PostgreSQL database; stop the service first, because later writes are not copied`,
    )
    .requiredOption(
      ...locationOption('--from', 'the database to copy, such as file:data/petstore.db; it is not changed'),
    )
    .requiredOption(
      ...locationOption('--to', 'the empty database, such as postgres://user@host/petstore; an SQLite file is created'),
    )
    .option(...jsonOption)
    .action(async ({ from, to, ...options }: JsonOption & { from: Location; to: Location }) => {
      const audit = auditOf(readConfig())
      const target = describeLocation(to)
      const onMigrate = (migrations: string[]) => audit('database.migrate', target, { migrations })
      const copied = await withProgress(describeRows, (onProgress) =>
        copy({ resources, from, to, onMigrate, onProgress }),
      )
      const rows = copied.tables.reduce((sum, { rows }) => sum + rows, 0)
      audit('database.copy', target, { from: copied.from, rows })
      printAs(options, copied, describeCopy)
    })
  addHelp(copying, {
    examples: ['petstore db copy --from file:data/petstore.db --to postgres://petstore@db.example/petstore'],
  })
}

function locationOption(name: string, description: string) {
  return [`${name} <database>`, description, (text: string) => parseLocation(text, name)] as const
}
