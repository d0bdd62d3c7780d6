import type { Command } from 'commander'
import type { WithApiKeys } from '../../db/keys/store.ts'
import type { ResourceList } from '../../db/resource-list.ts'
import { hashApiKey, startOf } from '../auth/api-key.ts'
import { describeKey } from '../ops/audit.ts'
import {
  createKey,
  describeKeys,
  listKeys,
  parseKeyName,
  parseLifetime,
  revokeKey,
  rotateKey,
  summaryOf,
} from '../ops/keys.ts'
import { withStore } from './open-store.ts'
import { addHelp, type JsonOption, jsonOption, note, printAs } from './output.ts'

interface NewKeyOptions extends JsonOption {
  expires?: number
}
const variables = ['DATABASE_URL'] as const
const lifetimeOption = ['--expires <lifetime>', 'the lifetime, such as 12h, 90d or 4w', parseLifetime] as const

export function addKeyCommands(program: Command, resources: ResourceList<WithApiKeys>): void {
  const keys = program
    .command('keys')
    .description('manage API keys; changes take effect at once, also on a running service')
  addHelp(keys, { examples: ['petstore keys create shop', 'petstore keys list'] })

  const create = keys
    .command('create')
    .description('create a key and print it; it cannot be shown again')
    .argument('<name>', 'the name of the key, such as that of its client', parseKeyName)
    .option(...lifetimeOption)
    .option(...jsonOption)
    .action((name: string, options: NewKeyOptions) =>
      withStore(
        resources,
        async (store, audit) => {
          const key = await createKey(store, name, options.expires)
          audit('key.create', describeKey({ name, start: startOf(key) }))
          await printKey(options, store, key)
        },
        { create: true },
      ),
    )
  addHelp(create, { examples: ['petstore keys create shop', 'petstore keys create partner --expires 90d'], variables })

  const list = keys
    .command('list')
    .description('list the keys without their secrets')
    .option(...jsonOption)
    .action((options: JsonOption) =>
      withStore(resources, async (store) => printAs(options, await listKeys(store), describeKeys)),
    )
  addHelp(list, { examples: ['petstore keys list', 'petstore keys list --json'], variables })

  const revoke = keys
    .command('revoke <name-or-start>')
    .description('revoke a key permanently')
    .option(...jsonOption)
    .action((nameOrStart: string, options: JsonOption) =>
      withStore(resources, async (store, audit) => {
        const key = await revokeKey(store, nameOrStart)
        audit('key.revoke', describeKey(key))
        printAs(options, summaryOf(key), () => `Revoked ${describeKey(key)}.`, note)
      }),
    )
  addHelp(revoke, { examples: ['petstore keys revoke shop', 'petstore keys revoke pet_XqrGRQ'], variables })

  const rotate = keys
    .command('rotate <name-or-start>')
    .description('revoke a key and print its replacement, which cannot be shown again')
    .option(...lifetimeOption)
    .option(...jsonOption)
    .action((nameOrStart: string, options: NewKeyOptions) =>
      withStore(resources, async (store, audit) => {
        const { key, old } = await rotateKey(store, nameOrStart, options.expires)
        audit('key.rotate', describeKey({ name: old.name, start: startOf(key) }), { replaces: describeKey(old) })
        await printKey(options, store, key)
      }),
    )
  addHelp(rotate, { examples: ['petstore keys rotate shop', 'petstore keys rotate shop --expires 30d'], variables })
}

async function printKey(options: JsonOption, { apiKeys }: WithApiKeys, key: string): Promise<void> {
  const record = await apiKeys.find(hashApiKey(key))
  note(record?.expiresAt ? `The key expires at ${record.expiresAt.toISOString()}.` : 'The key does not expire.')
  printAs(options, { ...(record && summaryOf(record)), key }, () => key)
}
