import type { Command } from 'commander'
import { createKey, describeKeys, parseLifetime, revokeKey, rotateKey } from '../ops/keys.ts'
import { withStore } from './open-store.ts'
import { note, print } from './output.ts'

interface LifetimeOption {
  expires?: number
}
const lifetimeOption = ['--expires <lifetime>', 'such as 12h, 90d or 4w', parseLifetime] as const

export function addKeyCommands(program: Command): void {
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
}
