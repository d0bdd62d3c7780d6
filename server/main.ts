import { Command } from 'commander'
import { describeLocation, type Location } from '../db/location.ts'
import { openStore } from '../db/open.ts'
import { IdsExhausted, KeyNameTaken, KeyRevoked, type Store, StoreUnavailable } from '../db/store.ts'
import { UnusableDatabase } from '../db/unusable-database.ts'
import { parseLocation, readConfig } from './config.ts'
import { backUp, restore } from './ops/backup.ts'
import { copy } from './ops/copy.ts'
import { createKey, describeKeys, parseLifetime, revokeKey, rotateKey } from './ops/keys.ts'
import { OperatorError } from './ops/operator-error.ts'
import { describeBytes, describeRows, withProgress } from './ops/progress.ts'

interface LifetimeOption {
  expires?: number
}
const lifetimeOption = ['--expires <lifetime>', 'such as 12h, 90d or 4w', parseLifetime] as const

const program = new Command('petstore').description('The pet store service.').showHelpAfterError()

program
  .command('serve', { isDefault: true })
  .description('serve REST and typed RPC until stopped (the default)')
  .allowExcessArguments()
  .action(async (_options, { args: [unknown] }: Command) => {
    if (unknown !== undefined) program.error(`error: unknown command '${unknown}'`)
    // The other commands start sooner without it, and with less memory.
    const { serve } = await import('./serve.ts')
    await serve(readConfig())
  })

const keys = program.command('keys').description('manage API keys; a change acts at once, also on a running service')

keys
  .command('create <name>')
  .description('make a key and print it, this once')
  .option(...lifetimeOption)
  .action((name: string, { expires }: LifetimeOption) =>
    withStore(async (store) => print(await createKey(store, name, expires)), { create: true }),
  )

keys
  .command('list')
  .description('show every key, without its secret')
  .action(() => withStore(async (store) => print(await describeKeys(store))))

keys
  .command('revoke <name-or-start>')
  .description('end a key for good')
  .action((nameOrStart: string) =>
    withStore(async (store) => {
      const { name, start } = await revokeKey(store, nameOrStart)
      note(`Revoked ${name} (${start}…).`)
    }),
  )

keys
  .command('rotate <name-or-start>')
  .description('end a key and print its successor, this once')
  .option(...lifetimeOption)
  .action((nameOrStart: string, { expires }: LifetimeOption) =>
    withStore(async (store) => print(await rotateKey(store, nameOrStart, expires))),
  )

program
  .command('backup [file]')
  .description('copy the database, also while the service runs, and print the path of the copy')
  .action(async (file?: string) => {
    const path = databaseFile()
    print(await withProgress(process.stderr, describeBytes, (onProgress) => backUp(path, file, onProgress)))
  })

program
  .command('restore <file>')
  .description('put a backup in the place of the database, which is kept, while the service is stopped')
  .action(async (file: string) => {
    const path = databaseFile()
    note(await withProgress(process.stderr, describeBytes, (onProgress) => restore(path, file, onProgress)))
  })

const databases = program.command('db').description('manage databases')

databases
  .command('copy')
  .description(
    'copy all pets and keys into an empty database, also of the other kind; what a service writes to the first one meanwhile stays behind, so stop it before',
  )
  .requiredOption(...locationOption('--from', 'the database to copy, such as file:data/petstore.db; it is only read'))
  .requiredOption(
    ...locationOption('--to', 'the empty database, such as postgres://user@host/petstore; a file is made'),
  )
  .action(async (request: { from: Location; to: Location }) =>
    print(await withProgress(process.stderr, describeRows, (onProgress) => copy({ ...request, onProgress }))),
  )

try {
  await program.parseAsync()
} catch (error) {
  if (!isForOperator(error)) throw error
  note(error.message)
  process.exitCode = 1
}

function locationOption(name: string, description: string) {
  return [`${name} <database>`, description, (text: string) => parseLocation(text, name)] as const
}

async function withStore(use: (store: Store) => Promise<void>, { create = false } = {}): Promise<void> {
  const { database } = readConfig()
  const onCreate = () => note(`Made the database ${describeLocation(database)}.`)
  // A command can wait for a busy service, which itself must not wait so long.
  const store = await openStore(database, { create, onCreate, onWarning: note, busyTimeout: 5_000 })
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

function databaseFile(): string {
  const { database } = readConfig()
  if (database.kind === 'sqlite') return database.path
  throw new OperatorError(
    'DATABASE_URL is of a PostgreSQL database: back it up and restore it with its own tools, pg_dump and pg_restore.',
  )
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

function isForOperator(error: unknown): error is Error {
  return [OperatorError, UnusableDatabase, IdsExhausted, KeyNameTaken, KeyRevoked, StoreUnavailable].some(
    (kind) => error instanceof kind,
  )
}
