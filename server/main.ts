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
import manifest from './package.json' with { type: 'json' }

interface LifetimeOption {
  expires?: number
}
const lifetimeOption = ['--expires <lifetime>', 'such as 12h, 90d or 4w', parseLifetime] as const

const program = new Command('petstore')
  .description('The pet store service.')
  .version(manifest.version)
  .showHelpAfterError()

program
  .command('serve', { isDefault: true })
  .description('serve REST and typed RPC until stopped (the default)')
  .allowExcessArguments()
  .action(async (_options, { args: [unknown] }: Command) => {
    if (unknown !== undefined) program.error(`error: unknown command '${unknown}'`)
    // Loaded here, because the other commands start faster and use less memory without it.
    const { serve } = await import('./serve.ts')
    await serve(readConfig())
  })

const keys = program
  .command('keys')
  .description('manage API keys; changes take effect at once, also on a running service')

keys
  .command('create <name>')
  .description('create a key and print it; it cannot be shown again')
  .option(...lifetimeOption)
  .action((name: string, { expires }: LifetimeOption) =>
    withStore(async (store) => print(await createKey(store, name, expires)), { create: true }),
  )

keys
  .command('list')
  .description('list the keys without their secrets')
  .action(() => withStore(async (store) => print(await describeKeys(store))))

keys
  .command('revoke <name-or-start>')
  .description('revoke a key permanently')
  .action((nameOrStart: string) =>
    withStore(async (store) => {
      const { name, start } = await revokeKey(store, nameOrStart)
      note(`Revoked ${name} (${start}…).`)
    }),
  )

keys
  .command('rotate <name-or-start>')
  .description('revoke a key and print its replacement, which cannot be shown again')
  .option(...lifetimeOption)
  .action((nameOrStart: string, { expires }: LifetimeOption) =>
    withStore(async (store) => print(await rotateKey(store, nameOrStart, expires))),
  )

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
  .requiredOption(...locationOption('--from', 'the database to copy, such as file:data/petstore.db; it is not changed'))
  .requiredOption(
    ...locationOption('--to', 'the empty database, such as postgres://user@host/petstore; an SQLite file is created'),
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
  const onCreate = () => note(`Created the database ${describeLocation(database)}.`)
  // Longer than in the service: a command may wait until a busy service has committed.
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
    'DATABASE_URL names a PostgreSQL database: use pg_dump and pg_restore to back it up and restore it.',
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
