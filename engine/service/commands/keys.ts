import type { Command } from 'commander'
import type { WithApiKeys } from '#store/keys'
import { apiKeyFormat, type MintedKey } from '../auth/api-key.ts'
import type { Product } from '../product.ts'
import { describeKey } from '../telemetry/audit.ts'
import { addHelp, type Cli } from './cli.ts'
import {
  createKey,
  describeKeys,
  listKeys,
  parseKeyName,
  parseLifetime,
  revokeKey,
  rotateKey,
  summaryOf,
} from './key-actions.ts'
import { withStore } from './open-store.ts'
import { confirm, type JsonOption, jsonOption, note, printAs, watchOutput } from './output.ts'

interface NewKeyOptions extends JsonOption {
  expires?: number
}
const settings = ['databaseUrl'] as const
const lifetimeOption = ['--expires <lifetime>', 'the lifetime, such as 12h, 90d or 4w', parseLifetime] as const

export function addKeyCommands(program: Command, cli: Cli<WithApiKeys>): void {
  const { product } = cli
  const keys = program
    .command('keys')
    .description('manage API keys; a running service follows at once, on PostgreSQL within a second')
  addHelp(cli, keys, { examples: ['keys create shop', 'keys list'] })

  const create = keys
    .command('create')
    .description('create a key and print it; it cannot be shown again')
    .argument('<name>', 'the name of the key, such as that of its client', (text) => parseKeyName(product, text))
    .option(...lifetimeOption)
    .option('--read-only', 'the key may read, and change nothing')
    .option(...jsonOption)
    .action((name: string, options: NewKeyOptions & { readOnly?: boolean }) =>
      withStore(cli, async (store, audit) => {
        const minted = await createKey(product, store, name, options.expires, options.readOnly ? 'read' : 'write')
        audit('key.create', describeKey(minted.record))
        printKey(product, options, minted)
      }),
    )
  addHelp(cli, create, { examples: ['keys create shop', 'keys create dashboard --read-only --expires 90d'], settings })

  const generate = keys
    .command('generate')
    .description(
      `print a key for ${cli.configuration.nameOf('apiKey')}, which a start then registers; nothing is stored`,
    )
    .option(...jsonOption)
    .action((options: JsonOption) =>
      printAs(options, { key: apiKeyFormat(product.keyPrefix).mintApiKey('generated').key }, ({ key }) => key),
    )
  addHelp(cli, generate, { examples: ['keys generate'], settings: ['apiKey'] })

  const list = keys
    .command('list')
    .description('list the keys without their secrets')
    .option(...jsonOption)
    .action((options: JsonOption) =>
      withStore(cli, async (store) => printAs(options, await listKeys(store), describeKeys)),
    )
  addHelp(cli, list, { examples: ['keys list', 'keys list --json'], settings })

  const revoke = keys
    .command('revoke <name-or-start>')
    .description('revoke a key permanently; on a terminal, it asks first')
    .option(...jsonOption)
    .action((nameOrStart: string, options: JsonOption) =>
      withStore(cli, async (store, audit) => {
        const key = await revokeKey(product, store, nameOrStart, (key) => confirm(`Revoke ${describeKey(key)}?`))
        audit('key.revoke', describeKey(key))
        printAs(options, summaryOf(key), () => `Revoked ${describeKey(key)}.`, note)
      }),
    )
  addHelp(cli, revoke, { examples: ['keys revoke shop', `keys revoke ${product.keyPrefix}XqrGRQ`], settings })

  const rotate = keys
    .command('rotate <name-or-start>')
    .description('replace a key at once, and print the new one, which cannot be shown again')
    .option(...lifetimeOption)
    .option(...jsonOption)
    .action((nameOrStart: string, options: NewKeyOptions) =>
      withStore(cli, async (store, audit) => {
        const variable = cli.configuration.nameOf('apiKey')
        const { old, ...minted } = await rotateKey(product, store, nameOrStart, options.expires, ({ message }) =>
          note(
            `The old key is refused, but could not be kept as a revoked one. ${message.replace(/\.?$/, '.')} If ${variable} is that key, change it.`,
          ),
        )
        audit('key.rotate', describeKey(minted.record), { replaces: describeKey(old) })
        printKey(product, options, minted)
      }),
    )
  addHelp(cli, rotate, { examples: ['keys rotate shop', 'keys rotate shop --expires 30d'], settings })
}

function printKey({ command }: Product, options: JsonOption, { key, record }: MintedKey): void {
  watchOutput(`Nobody has seen the new key: replace it with: ${command} keys rotate '${record.name}'`)
  note(record.expiresAt ? `The key expires at ${record.expiresAt.toISOString()}.` : 'The key does not expire.')
  printAs(options, { ...summaryOf(record), key }, () => key)
}
