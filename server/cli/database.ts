import type { Command } from 'commander'
import type { Location } from '../../db/location.ts'
import { parseLocation } from '../config.ts'
import { backUp, restore } from '../ops/backup.ts'
import { copy } from '../ops/copy.ts'
import { describeBytes, describeRows, withProgress } from '../ops/progress.ts'
import { databaseFile } from './open-store.ts'
import { note, print } from './output.ts'

export function addDatabaseCommands(program: Command): void {
  program
    .command('backup [file]')
    .description('back up the database, also while the service runs, and print the path of the backup')
    .action(async (file?: string) => {
      const path = databaseFile()
      print(await withProgress(process.stderr, describeBytes, (onProgress) => backUp(path, file, onProgress)))
    })

  program
    .command('restore <file>')
    .description('replace the database with a backup while the service is stopped; the replaced database is kept')
    .action(async (file: string) => {
      const path = databaseFile()
      note(await withProgress(process.stderr, describeBytes, (onProgress) => restore(path, file, onProgress)))
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
    .action(async (request: { from: Location; to: Location }) =>
      print(await withProgress(process.stderr, describeRows, (onProgress) => copy({ ...request, onProgress }))),
    )
}

function locationOption(name: string, description: string) {
  return [`${name} <database>`, description, (text: string) => parseLocation(text, name)] as const
}
