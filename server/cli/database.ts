import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { describeLocation, type Location } from '../../db/location.ts'
import { parseLocation, readConfig } from '../config.ts'
import { backUp, restore } from '../ops/backup.ts'
import { copy } from '../ops/copy.ts'
import { describeBytes, describeRows, withProgress } from '../ops/progress.ts'
import { auditOf, databaseFile } from './open-store.ts'
import { note, print } from './output.ts'

export function addDatabaseCommands(program: Command): void {
  program
    .command('backup [file]')
    .description('back up the database, also while the service runs, and print the path of the backup')
    .action(async (file?: string) => {
      const config = readConfig()
      const [path, audit] = [databaseFile(config), await auditOf(config)]
      const backup = await withProgress(process.stderr, describeBytes, (onProgress) => backUp(path, file, onProgress))
      audit('database.backup', backup, { from: path, bytes: statSync(backup).size })
      print(backup)
    })

  program
    .command('restore <file>')
    .description('replace the database with a backup while the service is stopped; the replaced database is kept')
    .action(async (file: string) => {
      const config = readConfig()
      const [path, audit] = [databaseFile(config), await auditOf(config)]
      const { backup, kept } = await withProgress(process.stderr, describeBytes, (onProgress) =>
        restore(path, file, onProgress),
      )
      audit('database.restore', path, { from: backup, kept })
      note(`Restored ${path} from ${backup}${kept ? `; the old database is now ${kept}` : ''}.`)
    })

  const databases = program.command('db').description('manage databases')

  databases
    .command('copy')
    .description(
      'copy all pets and keys into an empty SQLite or PostgreSQL database; stop the service first, because later writes are not copied',
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
        copy({ from, to, onMigrate, onProgress }),
      )
      audit('database.copy', target, { from: describeLocation(from), rows })
      print(summary)
    })
}

function locationOption(name: string, description: string) {
  return [`${name} <database>`, description, (text: string) => parseLocation(text, name)] as const
}
