import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { describeLocation, type Location } from '../../db/location.ts'
import { migrateStore } from '../../db/open.ts'
import type { ResourceList } from '../../db/resource-list.ts'
import { readConfig } from '../config.ts'
import { backUp, backUpTo, restore, verify, warningOf } from '../ops/backup/backup.ts'
import { copy, describeCopy } from '../ops/copy.ts'
import { count, listOf } from '../ops/count.ts'
import { describeMigrations, describeStatus, readPending, readStatus } from '../ops/database.ts'
import { parseFile, parseLocation } from '../ops/location.ts'
import { UsageError } from '../ops/operator-error.ts'
import { describeBytes, describeRows, withProgress } from '../ops/progress.ts'
import { addHelp } from './help.ts'
import { auditOf, databaseFile, reportsOn } from './open-store.ts'
import { type JsonOption, jsonOption, note, printAs, refuseJson } from './output.ts'

const variables = ['DATABASE_URL'] as const

export function addDatabaseCommands(program: Command, resources: ResourceList): void {
  addBackupCommands(program, resources)
  addRestoreCommand(program, resources)
  const databases = program.command('db').description('manage databases')
  addHelp(databases, { examples: ['petstore db status', 'petstore db migrate --dry-run'] })
  const { names } = resources
  const contents = listOf([...names.filter((name) => name !== 'apiKeys'), 'keys'])
  addStatusCommand(databases, resources, contents)
  addMigrateCommand(databases, resources)
  addCopyCommand(databases, resources, contents)
}

function addBackupCommands(program: Command, resources: ResourceList): void {
  const backup = program
    .command('backup')
    .description('back up the database, also while the service runs, and print the path of the backup')
    .argument('[file]', 'the path of the backup, or - for standard output', parseTarget)
    .option(...jsonOption)
    .action(async (file: string | undefined, options: JsonOption) => {
      if (file === '-') return backUpToOutput(resources, options)
      const { path, audit } = await databaseFile()
      const backup = await withProgress(process.stderr, describeBytes, (onProgress) =>
        backUp(resources, path, file, onProgress),
      )
      const { size: bytes } = statSync(backup)
      audit('database.backup', backup, { from: path, bytes })
      printAs(options, { path: backup, bytes }, ({ path }) => path)
    })
  addHelp(backup, {
    examples: [
      'petstore backup',
      'petstore backup /mnt/backups/petstore.db',
      'petstore backup - | gzip > petstore.db.gz',
      'petstore backup verify /mnt/backups/petstore.db',
    ],
    variables,
  })

  const verifying = backup
    .command('verify')
    .description('check that this release can restore a backup, and show what it contains')
    .argument('<file>', 'the backup, which is only read', parseFile)
    .option(...jsonOption)
    .action(async (file: string, _options: JsonOption, command: Command) => {
      // Commander takes the option for that of `backup`.
      const options: JsonOption = command.optsWithGlobals()
      const verified = await verify(resources, file)
      if (verified.checksum === 'missing') note(warningOf(file))
      printAs(options, verified, () => describeStatus(resources, verified, ['Checksum', verified.checksum]))
    })
  addHelp(verifying, { examples: ['petstore backup verify data/backups/petstore.db-2026-11-21T043000.123Z.db'] })
}

function parseTarget(text: string): string {
  return text === '-' ? text : parseFile(text)
}

async function backUpToOutput(resources: ResourceList, options: JsonOption): Promise<void> {
  refuseJson(options, 'the backup')
  if (process.stdout.isTTY) throw new UsageError('A backup is not text. Redirect standard output to a file or a pipe.')
  const { path, audit } = await databaseFile()
  const { bytes, sha256 } = await withProgress(process.stderr, describeBytes, (onProgress) =>
    backUpTo(resources, process.stdout, path, onProgress),
  )
  audit('database.backup', 'standard output', { from: path, bytes })
  note(`Wrote a backup of ${count(bytes, 'byte')}, SHA-256 ${sha256}.`)
}

function addRestoreCommand(program: Command, resources: ResourceList): void {
  const restoring = program
    .command('restore')
    .description('replace the database with a backup while the service is stopped; the replaced database is kept')
    .argument('<file>', 'the backup', parseFile)
    .option(...jsonOption)
    .action(async (backup: string, options: JsonOption) => {
      const { path, audit } = await databaseFile()
      const { kept, checksum } = await withProgress(process.stderr, describeBytes, (onProgress) =>
        restore(resources, path, backup, onProgress),
      )
      audit('database.restore', path, { from: backup, kept })
      if (checksum === 'missing') note(warningOf(backup))
      const describe = () => `Restored ${path} from ${backup}${kept ? `; the old database is now ${kept}` : ''}.`
      printAs(options, { path, from: backup, kept: kept ?? null, checksum }, describe, note)
    })
  addHelp(restoring, {
    examples: ['petstore restore data/backups/petstore.db-2026-11-21T043000.123Z.db'],
    variables,
  })
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
      if (isApplied) await migrateStore(resources, database, reportsOn(database, await auditOf(config)))
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
      const audit = await auditOf(readConfig())
      const target = describeLocation(to)
      const onMigrate = (migrations: string[]) => audit('database.migrate', target, { migrations })
      const copied = await withProgress(process.stderr, describeRows, (onProgress) =>
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
