import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { describeLocation, type Location } from '../../db/location.ts'
import { migrateStore } from '../../db/open.ts'
import type { ResourceList } from '../../db/resource-list.ts'
import { readConfig } from '../config.ts'
import { backUp, restore } from '../ops/backup.ts'
import { copy } from '../ops/copy.ts'
import { describeMigrations, describeStatus, readPending, readStatus } from '../ops/database.ts'
import { parseFile, parseLocation } from '../ops/location.ts'
import { describeBytes, describeRows, withProgress } from '../ops/progress.ts'
import { addHelp } from './help.ts'
import { auditOf, databaseFile, reportsOn } from './open-store.ts'
import { type JsonOption, jsonOption, note, print, printAs } from './output.ts'

const variables = ['DATABASE_URL'] as const

export function addDatabaseCommands(program: Command, resources: ResourceList): void {
  const backup = program
    .command('backup')
    .description('back up the database, also while the service runs, and print the path of the backup')
    .argument('[file]', 'the path of the backup', parseFile)
    .action(async (file?: string) => {
      const { path, audit } = await databaseFile()
      const backup = await withProgress(process.stderr, describeBytes, (onProgress) =>
        backUp(resources, path, file, onProgress),
      )
      audit('database.backup', backup, { from: path, bytes: statSync(backup).size })
      print(backup)
    })
  addHelp(backup, { examples: ['petstore backup', 'petstore backup /mnt/backups/petstore.db'], variables })

  const restoring = program
    .command('restore')
    .description('replace the database with a backup while the service is stopped; the replaced database is kept')
    .argument('<file>', 'the backup', parseFile)
    .action(async (backup: string) => {
      const { path, audit } = await databaseFile()
      const { kept, warning } = await withProgress(process.stderr, describeBytes, (onProgress) =>
        restore(resources, path, backup, onProgress),
      )
      audit('database.restore', path, { from: backup, kept })
      if (warning !== undefined) note(warning)
      note(`Restored ${path} from ${backup}${kept ? `; the old database is now ${kept}` : ''}.`)
    })
  addHelp(restoring, {
    examples: ['petstore restore data/backups/petstore.db-2026-11-21T043000.123Z.db'],
    variables,
  })

  const databases = program.command('db').description('manage databases')
  addHelp(databases, { examples: ['petstore db status', 'petstore db migrate --dry-run'] })
  const { names } = resources
  const contents = new Intl.ListFormat('en').format([...names.filter((name) => name !== 'apiKeys'), 'keys'])
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
    .action(async ({ dryRun }: { dryRun?: boolean }) => {
      const config = readConfig()
      const { database } = config
      const pending = await readPending(resources, database)
      if (dryRun || pending.length === 0) return print(describeMigrations(database, pending))
      const audit = await auditOf(config)
      await migrateStore(resources, database, reportsOn(database, audit))
      print(pending.map(({ name }) => `Applied ${name}.`).join('\n'))
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
    .action(async ({ from, to }: { from: Location; to: Location }) => {
      const audit = await auditOf(readConfig())
      const target = describeLocation(to)
      const onMigrate = (migrations: string[]) => audit('database.migrate', target, { migrations })
      const { summary, rows } = await withProgress(process.stderr, describeRows, (onProgress) =>
        copy({ resources, from, to, onMigrate, onProgress }),
      )
      audit('database.copy', target, { from: describeLocation(from), rows })
      print(summary)
    })
  addHelp(copying, {
    examples: ['petstore db copy --from file:data/petstore.db --to postgres://petstore@db.example/petstore'],
  })
}

function locationOption(name: string, description: string) {
  return [`${name} <database>`, description, (text: string) => parseLocation(text, name)] as const
}
