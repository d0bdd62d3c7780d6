import type { Command } from 'commander'
import { type ApiKey, type NewApiKey, RowConflict, type WithApiKeys } from '#store'
import { type Access, apiKeyFormat, type MintedKey } from '../auth/api-key.ts'
import { alignColumns, parseDuration } from '../operator/format.ts'
import { OperatorError, UsageError } from '../operator/operator-error.ts'
import type { Product } from '../product.ts'
import { joinWords } from '../reader/texts.ts'
import { describeKey } from '../telemetry/audit.ts'
import { addCommand, type Cli, withHelp } from './cli.ts'
import { withStore } from './open-store.ts'
import { confirm, type JsonOption, note, printAs, watchOutput } from './output.ts'

interface NewKeyOptions extends JsonOption {
  expires?: number
}
const lifetimeOption = ['--expires <lifetime>', 'the lifetime, such as 12h, 90d or 4w', parseLifetime] as const

export function addKeyCommands(program: Command, cli: Cli<WithApiKeys>): void {
  const { product } = cli
  const managing = 'manage API keys; a running service follows at once, on PostgreSQL within a second'
  const keys = withHelp(cli, program.command('keys'), managing, ['keys create shop', 'keys list'])
  const variable = cli.configuration.variableOf('apiKey')

  const creations = ['keys create shop', 'keys create dashboard --read-only --expires 90d']
  addCommand(cli, keys, 'create', 'create a key and print it; it cannot be shown again', creations)
    .argument('<name>', 'the name of the key, such as that of its client', (text) => parseKeyName(product, text))
    .option(...lifetimeOption)
    .option('--read-only', 'the key may read, and change nothing')
    .action((name: string, options: NewKeyOptions & { readOnly?: boolean }) =>
      withStore(cli, async (store, audit) => {
        const minted = await keysOf(product, store).create(name, options.expires, options.readOnly ? 'read' : 'write')
        audit('key.create', describeKey(minted.record))
        printKey(product, options, minted)
      }),
    )

  const generating = `print a key for ${variable}, which a start then registers; nothing is stored`
  addCommand(cli, keys, 'generate', generating, ['keys generate'], ['apiKey']).action((options: JsonOption) =>
    printAs(options, { key: apiKeyFormat(product.keyPrefix).mintApiKey('generated').key }, ({ key }) => key),
  )

  addCommand(cli, keys, 'list', 'list the keys without their secrets', ['keys list', 'keys list --json']).action(
    (options: JsonOption) => withStore(cli, async (store) => printAs(options, await listKeys(store), describeKeys)),
  )

  const revoking = 'revoke a key permanently; on a terminal, it asks first'
  const revocations = ['keys revoke shop', `keys revoke ${product.keyPrefix}XqrGRQ`]
  addCommand(cli, keys, 'revoke <name-or-start>', revoking, revocations).action(
    (nameOrStart: string, options: JsonOption) =>
      withStore(cli, async (store, audit) => {
        const key = await keysOf(product, store).revoke(nameOrStart, (key) => confirm(`Revoke ${describeKey(key)}?`))
        audit('key.revoke', describeKey(key))
        printAs(options, summaryOf(key), () => `Revoked ${describeKey(key)}.`, note)
      }),
  )

  const rotating = 'replace a key at once, and print the new one, which cannot be shown again'
  const rotations = ['keys rotate shop', 'keys rotate shop --expires 30d']
  addCommand(cli, keys, 'rotate <name-or-start>', rotating, rotations)
    .option(...lifetimeOption)
    .action((nameOrStart: string, options: NewKeyOptions) =>
      withStore(cli, async (store, audit) => {
        const { old, ...minted } = await keysOf(product, store).rotate(nameOrStart, options.expires, ({ message }) =>
          note(
            `The old key is refused, but could not be kept as a revoked one. ${message.replace(/\.?$/, '.')} If ${variable} is that key, change it.`,
          ),
        )
        audit('key.rotate', describeKey(minted.record), { replaces: describeKey(old) })
        printKey(product, options, minted)
      }),
    )
}

function printKey({ command }: Product, options: JsonOption, { key, record }: MintedKey): void {
  watchOutput(`Nobody has seen the new key: replace it with: ${command} keys rotate '${record.name}'`)
  note(record.expiresAt ? `The key expires at ${record.expiresAt.toISOString()}.` : 'The key does not expire.')
  printAs(options, { ...summaryOf(record), key }, () => key)
}

/** The constraints of both databases allow years of four digits. */
const latestTime = Date.UTC(9999, 11, 31)
const changedMeanwhile = 'The API key was revoked or rotated meanwhile. List the keys, and run the command again.'

/** Creates, rotates and revokes the keys of a store. A lifetime is in milliseconds; without one the key does not expire. */
export function keysOf({ keyPrefix, command }: Pick<Product, 'keyPrefix' | 'command'>, { apiKeys }: WithApiKeys) {
  const { mintApiKey, startOfUnknown } = apiKeyFormat(keyPrefix)

  async function create(name: string, lifetime?: number, access?: Access): Promise<MintedKey> {
    const minted = mintApiKey(name, lifetime, access)
    await apiKeys.create(minted.record).catch((cause) => {
      if (!(cause instanceof RowConflict)) throw cause
      throw new OperatorError(
        'An API key that was not revoked already has this name: choose another one, or rotate or revoke that key.',
        { cause },
      )
    })
    return minted
  }

  /** Replaces a key by a successor of the same name and access, and by default of its lifetime. */
  async function rotate(nameOrStart: string, lifetime?: number, onLost?: (error: Error) => void) {
    const old = await find(nameOrStart)
    const successor = mintApiKey(old.name, lifetime ?? lifetimeOf(old), old.access)
    if (!(await apiKeys.rotate(old, successor.record, onLost))) throw new OperatorError(changedMeanwhile)
    return { ...successor, old }
  }

  /** @param confirm may refuse the key that was found by throwing. */
  async function revoke(nameOrStart: string, confirm = async (_key: ApiKey) => {}): Promise<ApiKey> {
    const key = await find(nameOrStart)
    await confirm(key)
    const revokedAt = new Date()
    if (!(await apiKeys.revoke(key, revokedAt))) throw new OperatorError(changedMeanwhile)
    return { ...key, revokedAt }
  }

  async function find(nameOrStart: string): Promise<ApiKey> {
    const live = (await apiKeys.list()).filter(({ revokedAt }) => !revokedAt)
    const named = live.filter(({ name }) => name === nameOrStart)
    // A whole key is accepted too, because an operator who finds a key in a log has only that.
    const isStart = (start: string) => start.startsWith(nameOrStart) || nameOrStart.startsWith(start)
    const started = nameOrStart.length > keyPrefix.length ? live.filter(({ start }) => isStart(start)) : []
    const found = named.length > 0 ? named : started
    const [key] = found
    // The text may be a whole key, which must not appear in a log.
    const shown = startOfUnknown(nameOrStart) ?? nameOrStart
    if (!key)
      throw new OperatorError(
        `No active API key is named "${shown}" or starts with "${shown}". List the keys with: ${command} keys list`,
      )
    if (found.length > 1)
      throw new OperatorError(
        `Several API keys start with ${shown}: ${joinWords(found.map(({ name }) => name))}. Give the name or more of the key.`,
      )
    return key
  }

  return { create, rotate, revoke }
}

function lifetimeOf({ name, createdAt, expiresAt }: ApiKey): number | undefined {
  if (!expiresAt) return undefined
  const lifetime = expiresAt.getTime() - createdAt.getTime()
  // Also false if a time is invalid.
  if (lifetime > 0 && Date.now() + lifetime <= latestTime) return lifetime
  throw new OperatorError(
    `The lifetime of the API key ${name} cannot be kept for its successor, because its times are invalid or too late. Choose a lifetime with --expires.`,
  )
}

type KeySummary = ReturnType<typeof summaryOf>

/** What an operator may see of a key. Times are in ISO 8601, or the word `unreadable`. */
function summaryOf({ name, start, access, ...times }: NewApiKey & Partial<ApiKey>) {
  return {
    name,
    start,
    access,
    createdAt: describeTime(times.createdAt),
    expiresAt: describeTime(times.expiresAt),
    revokedAt: describeTime(times.revokedAt),
    lastUsedAt: describeTime(times.lastUsedAt),
  }
}

export async function listKeys({ apiKeys }: WithApiKeys): Promise<KeySummary[]> {
  return (await apiKeys.list()).map(summaryOf)
}

function describeTime(time: Date | undefined): string | null {
  if (!time) return null
  return Number.isNaN(time.getTime()) ? 'unreadable' : time.toISOString()
}

export function describeKeys(keys: KeySummary[]): string {
  const rows = keys.map(({ name, start, access, ...times }) => [
    name,
    `${start}…`,
    access,
    ...Object.values(times).map((time) => time?.replace(/\.\d{3}Z$/, 'Z') ?? '-'),
  ])
  return alignColumns([['NAME', 'START', 'ACCESS', 'CREATED', 'EXPIRES', 'REVOKED', 'LAST USED'], ...rows])
}

export function parseKeyName({ keyPrefix }: Pick<Product, 'keyPrefix'>, name: string): string {
  if (!/^[\p{L}\p{N} ._@()-]{1,64}$/u.test(name) || name !== name.trim() || name.startsWith(keyPrefix))
    throw new UsageError(
      `Name the key with 1 to 64 letters, digits, inner spaces or . _ @ ( ) -, not starting with ${keyPrefix}.`,
    )
  return name
}

/** Parses a lifetime such as 12h, 90d or 4w. Returns milliseconds. */
export function parseLifetime(text: string): number {
  const lifetime = parseDuration(text)
  if (lifetime === undefined)
    throw new UsageError(
      `${text} is not a lifetime. Give a number of at most five digits and a unit, such as 12h, 90d or 4w.`,
    )
  return lifetime
}
