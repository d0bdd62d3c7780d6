import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'
import { apiKeyFormat } from './auth/api-key.ts'
import type { Rate } from './auth/rate-limit.ts'
import { parseDuration } from './operator/format.ts'
import { databaseUrl, hasControlCharacter } from './operator/location.ts'
import { OperatorError, systemMessage } from './operator/operator-error.ts'
import { type Product, prefixOf } from './product.ts'

/** Only this module reads the environment. */
export const environment: Record<string, string | undefined> = process.env

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const expectedPort = 'expected a port from 0 to 65535'
const Port = numberText(/^\d{1,5}$/, expectedPort).refine((port) => port <= 65_535, expectedPort)

/** An IPv6 address may be in brackets, as in a URL. */
const Host = z
  .string()
  .transform((text) => text.replace(/^\[(.*)\]$/, '$1'))
  .refine(
    (text) => isIP(text) !== 0 || /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(text),
    'expected an IP address or a host name',
  )

/** Where clients reach a server: an origin and a path, without a slash at the end. */
const PublicUrl = z
  .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
  .refine((url) => !url.includes('*'), 'expected a whole host name, without *')
  .transform((text) => new URL(text))
  .refine(
    ({ href, origin, pathname }) => href === origin + pathname,
    'expected a URL without a user name, a password, a query or a fragment',
  )
  .transform(({ origin, pathname }) => origin + pathname.replaceAll(/\/+/g, '/').replace(/\/$/, ''))
  .refine((text) => !text.endsWith('/v1'), 'expected a URL without /v1, which is added')

/** The origin of an app or a browser extension. `URL` returns the origin `null` for their schemes. */
const appOrigin = /^(?!file:)[a-z][a-z\d+.-]{0,63}:\/\/[a-z\d.-]{1,255}(:\d{1,5})?$/

const Origin = z.string().refine((text) => {
  const { origin } = URL.parse(text) ?? {}
  return (origin === text && !text.includes('*')) || (origin === 'null' && appOrigin.test(text))
}, 'expected origins such as https://shop.example, without *')

const ProxyAddress = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'expected IP addresses or CIDR ranges')
  .refine(
    (text) => !text.endsWith('/0'),
    'expected no range of all addresses (/0), because each client could then claim any address',
  )

const secondsIn: Record<string, number> = { s: 1, min: 60, h: 3_600 }

const RateText = z.string().transform((text, context): Rate => {
  const [, requests, unit = ''] = /^([1-9]\d{0,8})\/(s|min|h)$/.exec(text) ?? []
  if (!requests) context.addIssue('expected a rate such as 50/s, 1000/min or 20000/h')
  return { requests: Number(requests), seconds: secondsIn[unit] ?? 0 }
})

type KeyedProduct = Pick<Product, 'command' | 'keyPrefix'>

/** Bytes. */
const maxKeyFile = 1_024

function apiKeySchemas({ command, keyPrefix }: KeyedProduct) {
  const expected = `an API key that "${command} keys generate" printed`
  const text = z.string().refine(apiKeyFormat(keyPrefix).isApiKey, `expected ${expected}`)
  const file = z.string().transform((path, context) => {
    const refuse = (problem: string) => {
      context.addIssue(`expected a file with ${expected}, and ${path} ${problem}`)
      return z.NEVER
    }
    try {
      const stats = statSync(path)
      // Before it is opened: a pipe would block, and a device may have no end.
      if (!stats.isFile()) return refuse('is a folder, a pipe or a device')
      const { data: key } = text.safeParse(stats.size > maxKeyFile ? '' : readFileSync(path, 'utf8').trim())
      return key ?? refuse('contains something else')
    } catch (error) {
      const message = systemMessage(error)
      if (message === undefined) throw error
      return refuse(`cannot be read: ${message}`)
    }
  })
  return { text, file }
}

/** Milliseconds. */
const Interval = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined)
    context.addIssue('expected a duration of at most five digits and a unit, such as 30m, 6h or 1d')
  return milliseconds
})

const Count = numberText(/^[1-9]\d{0,3}$/, 'expected a number from 1 to 9999')

function numberText(pattern: RegExp, problem: string) {
  return z.string().regex(pattern, problem).transform(Number)
}

/** `apiKey` has the variable `API_KEY`. The descriptions are for the help. */
function settingsOf(product: KeyedProduct) {
  const apiKey = apiKeySchemas(product)
  return z.object({
    host: Host.prefault('127.0.0.1').describe('the address to listen on'),
    port: Port.prefault('3000').describe('the port to listen on'),
    adminHost: Host.prefault('127.0.0.1').describe('the address of the metrics and the health checks'),
    adminPort: Port.optional().describe('the port of the metrics and the health checks'),
    reusePort: z
      .stringbool('expected true or false')
      .default(false)
      .describe('whether another process may listen on the same port'),
    databaseUrl: databaseUrl(product.command)
      .prefault(`file:data/${product.command}.db`)
      .describe('the database: file: and a path, or postgres://'),
    databaseConnections: Count.prefault('10').describe('the maximum number of connections to PostgreSQL'),
    publicUrl: PublicUrl.optional().describe('where clients reach the service, without /v1'),
    stagingUrl: PublicUrl.optional().describe('a second server for the OpenAPI document'),
    logLevel: oneOf(logLevels).default('info').describe(logLevels.join(', ')),
    logFormat: oneOf(['json', 'pretty'])
      .optional()
      .describe('json or pretty; by default pretty on a terminal, else json'),
    corsOrigins: list(Origin).describe('the origins whose pages may call the service, separated by commas'),
    trustProxy: list(ProxyAddress).describe('the addresses of trusted proxies, separated by commas'),
    rateLimit: RateText.optional().describe('the calls allowed for each API key, such as 50/s'),
    historyDays: numberText(/^\d{1,4}$/, 'expected a number from 0 to 9999')
      .prefault('400')
      .describe('how many days to keep the history of changes, 0 for none'),
    apiKey: apiKey.text.optional().describe('an API key to register at the start'),
    apiKeyFile: apiKey.file.optional().describe('a file with such a key'),
    backupEvery: Interval.optional().describe('how often to back up, such as 6h'),
    backupKeep: Count.prefault('7').describe('how many of these backups to keep'),
  })
}

type Settings = ReturnType<typeof settingsOf>

export type Config = ReturnType<typeof toConfig>

function toConfig(settings: z.infer<Settings>, productSettings: Record<string, unknown>) {
  const { databaseUrl: database, apiKey, apiKeyFile, ...others } = settings
  return { ...others, database, apiKey: apiKey ?? apiKeyFile, productSettings }
}

export type Configuration = ReturnType<typeof configurationOf>

/**
 * The variables of the environment that a service reads.
 *
 * @param own the schema of the settings of the product, each of which reads a text or its absence
 */
export function configurationOf(product: KeyedProduct, own = z.object()) {
  const schema = settingsOf(product)
  const shape: Record<string, z.ZodType> = { ...own.shape, ...schema.shape }
  const taken = Object.keys(own.shape).find((name) => name in schema.shape)
  if (taken !== undefined)
    throw new Error(`Every service has the setting ${taken}. Give that of the product another name.`)
  /** All settings, in the order of the documentation. */
  const settings = [...Object.keys(schema.shape), ...Object.keys(own.shape)]

  /** The name of its variable. Those of keys have the prefix of the product: a shell may have the API key of another program. */
  function variableOf(setting: string): string {
    const name = setting.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
    return setting === 'apiKey' || setting === 'apiKeyFile' ? prefixOf(product.command).toUpperCase() + name : name
  }

  /** What the help says about a setting. */
  function describe(setting: string): string {
    const each = shape[setting]
    const value = each instanceof z.ZodPrefault || each instanceof z.ZodDefault ? each.def.defaultValue : []
    return `${each?.description ?? 'a setting of the product'}${Array.isArray(value) ? '' : ` (default: ${value})`}`
  }

  /**
   * Reads environment variables. One without text counts as not set. An {@link OperatorError} names every invalid one.
   *
   * @param needed the settings of the product that are read
   */
  function readConfig(env = environment, needed = own): Config {
    // Without the white space that YAML blocks and Windows line ends add.
    const read = (setting: string) => env[variableOf(setting)]?.trim() || undefined
    const given = Object.fromEntries(settings.map((setting) => [setting, read(setting)]))
    const [{ data, error }, ofProduct] = [schema.safeParse(given), needed.safeParse(given)]
    const broken = new Set(settings.filter((setting) => hasControlCharacter(given[setting] ?? '')))
    const problems = [...broken].map(
      (each) => `${variableOf(each)}: expected no control characters, such as line breaks`,
    )
    for (const { path, code, message } of [error, ofProduct.error].flatMap((each) => each?.issues ?? [])) {
      const setting = settings.find((each) => each === path[0])
      if (!setting || broken.has(setting)) continue
      const isMissing = given[setting] === undefined && code === 'invalid_type'
      problems.push(`${variableOf(setting)}: ${isMissing ? `not set; give it a value: ${describe(setting)}` : message}`)
    }
    if (given.apiKey && given.apiKeyFile)
      problems.push(`${variableOf('apiKey')}, ${variableOf('apiKeyFile')}: expected only one of them`)
    // Each by itself, so that another wrong setting hides no problem.
    const { port, adminPort, backupEvery, databaseUrl } = schema.shape
    const admin = adminPort.safeParse(given.adminPort).data
    if (admin && admin === port.safeParse(given.port).data) problems.push('ADMIN_PORT: expected another port than PORT')
    const isOnPostgres = databaseUrl.safeParse(given.databaseUrl).data?.kind === 'postgres'
    if (isOnPostgres && backupEvery.safeParse(given.backupEvery).data)
      problems.push(
        'BACKUP_EVERY: expected only for an SQLite database. Back up PostgreSQL with its own tools, such as pg_dump',
      )
    if (!data || !ofProduct.data || problems.length > 0) {
      // A list with several wrong items has the same problem several times.
      const lines = [...new Set(problems)].map((problem) => `  ${problem}`)
      throw new OperatorError(`The configuration is wrong:\n${lines.join('\n')}`)
    }
    return toConfig(data, ofProduct.data)
  }

  /** Reads those of a command, which needs none of the product. They may be set for the service only. */
  const readForCommand = () => readConfig(environment, z.object())

  return { settings, variableOf, describe, readConfig, readForCommand }
}

/** Addresses that mean all those of the machine, with the one by which its own programs reach them. */
const anyAddress: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Where programs on this machine reach the service. */
export function originOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = anyAddress[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Where clients reach the service. Empty if unknown: on all addresses, or behind a proxy, clients use a name of their own. */
export function publicAddressOf(
  { publicUrl, trustProxy }: Pick<Config, 'publicUrl' | 'trustProxy'>,
  listening: Pick<Config, 'host' | 'port'> | undefined,
): string {
  if (publicUrl !== undefined) return publicUrl
  const isKnown = listening && !(listening.host in anyAddress) && trustProxy.length === 0
  return isKnown ? originOf(listening) : ''
}

function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, `expected one of ${words.join(', ')}`)
}

function list<T extends z.ZodType<unknown, string>>(item: T) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item))
    .default([])
}
