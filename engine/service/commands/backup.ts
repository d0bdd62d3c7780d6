import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { type StoreDefinition, UnusableDatabase } from '#store'
import {
  backUpDatabase,
  checksumOf,
  refuseCopyWithoutLog,
  restoreDatabase,
  streamBackup,
  verifyBackup,
} from '#store/operator'
import { count, describeBytes, withProgress } from '../operator/format.ts'
import { parseBackup, parseFile } from '../operator/location.ts'
import { UsageError } from '../operator/operator-error.ts'
import { writeStream } from '../transfer/export.ts'
import { addCommand, type Cli } from './cli.ts'
import { describeStatus, readStatus } from './database.ts'
import { databaseFile } from './open-store.ts'
import { type JsonOption, note, printAs, refuseJson } from './output.ts'

/** A backup, in examples. */
const sample = 'data/backups/$0.db-2026-11-21T043000.123Z.db'

export function addBackupCommands(program: Command, cli: Cli): void {
  const { configuration, definition } = cli
  const description = 'back up the database, also while the service runs, and print the path of the backup'
  const files = ['$0 backup /mnt/backups/$0.db', '$0 backup - | gzip > $0.db.gz', '$0 backup verify /mnt/backups/$0.db']
  const backup = addCommand(cli, program, 'backup', description, ['backup', ...files])
    .argument('[file]', 'the path of the backup, or - for standard output', (text) =>
      text === '-' ? text : parseFile(text),
    )
    .action(async (file: string | undefined, options: JsonOption) => {
      if (file === '-') return backUpToOutput(cli, options)
      const { path, audit } = databaseFile(configuration.readForCommand())
      const backup = await withProgress(describeBytes, (onProgress) =>
        backUpDatabase(path, definition.sqliteRelease(), file, onProgress),
      )
      const { size: bytes } = statSync(backup)
      audit('database.backup', backup, { from: path, bytes })
      printAs(options, { path: backup, bytes }, ({ path }) => path)
    })

  const verifying = 'check that this release can restore a backup, and show what it contains'
  addCommand(cli, backup, 'verify', verifying, [`$0 backup verify ${sample}`], [])
    .argument('<file>', 'the backup, which is only read', parseBackup)
    .action(async (file: string, _options: JsonOption, command: Command) => {
      // Commander takes the option for that of `backup`.
      const options: JsonOption = command.optsWithGlobals()
      const verified = await verify(definition, file)
      printAs(options, verified, () => describeStatus(definition, verified, ['Checksum', verified.checksum]))
    })
}

async function backUpToOutput({ configuration, definition }: Cli, options: JsonOption): Promise<void> {
  refuseJson(options, 'the backup')
  if (process.stdout.isTTY) throw new UsageError('A backup is not text. Redirect standard output to a file or a pipe.')
  const { path, audit } = databaseFile(configuration.readForCommand())
  const { bytes, sha256 } = await withProgress(describeBytes, (onProgress) =>
    writeStream(process.stdout, (write) => streamBackup(path, definition.sqliteRelease(), write, onProgress)),
  )
  audit('database.backup', 'standard output', { from: path, bytes })
  note(`Wrote a backup of ${count(bytes, 'byte')}, SHA-256 ${sha256}.`)
}

export function addRestoreCommand(program: Command, cli: Cli): void {
  const { configuration, definition } = cli
  const description = 'replace the database with a backup while the service is stopped; the replaced database is kept'
  addCommand(cli, program, 'restore', description, [`$0 restore ${sample}`])
    .argument('<file>', 'the backup', parseBackup)
    .option('--force', 'also restore a copy without its log, which may lack the newest rows')
    .action(async (backup: string, options: JsonOption & { force?: true }) => {
      const { path, audit } = databaseFile(configuration.readForCommand())
      const { kept, isVerified } = await withProgress(describeBytes, (onProgress) =>
        restoreDatabase(path, definition.sqliteRelease(), backup, { force: options.force, onProgress }),
      )
      audit('database.restore', path, { from: backup, kept })
      const checksum = checksumState(isVerified, backup)
      const describe = () => `Restored ${path} from ${backup}${kept ? `; the old database is now ${kept}` : ''}.`
      printAs(options, { path, from: backup, kept: kept ?? null, checksum }, describe, note)
    })
}

/** Whether a backup matches its checksum. Releases before 1.1.0 wrote none. */
function checksumState(isVerified: boolean, backup: string): 'matches' | 'missing' {
  if (isVerified) return 'matches'
  note(`There is no checksum ${checksumOf(backup)}, so it is unknown whether the backup has changed since it was made.`)
  return 'missing'
}

/** Checks that this release can restore a backup, which is only read. Otherwise it throws {@link UnusableDatabase}. */
export async function verify(definition: StoreDefinition, file: string) {
  const isVerified = await verifyBackup(file, definition.sqliteRelease())
  const status = await readStatus(definition, { kind: 'sqlite', path: file })
  if (status.problem !== null) throw new UnusableDatabase(file, status.problem)
  refuseCopyWithoutLog(file)
  return { ...status, checksum: checksumState(isVerified, file) }
}
