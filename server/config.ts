import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Location } from '../db/location.ts'
import { isApiKey } from './auth/api-key.ts'
import type { Rate } from './auth/rate-limit.ts'
import { parseDuration } from './ops/duration.ts'
import { OperatorError } from './ops/operator-error.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const Port = z
  .string()
  .regex(/^\d{1,5}$/, 'expected a port from 0 to 65535')
  .transform(Number)
  .refine((port) => port <= 65_535, 'expected a port from 0 to 65535')

const DatabaseUrl = z.string().transform((url, context): Location => {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return { kind: 'postgres', url }
  const path = pathOf(url)
  if (path === undefined) {
    context.addIssue(
      'expected a file, such as file:data/petstore.db, or a PostgreSQL database, such as postgres://user@host/petstore',
    )
  }
  return { kind: 'sqlite', path: path ?? '' }
})

/**
 * Reads where a database is, as DATABASE_URL has it.
 *
 * @param name what the text is called, for the message, which does not show the text: it may hold a password.
 * @throws {OperatorError}
 */
export function parseLocation(text: string, name: string): Location {
  const { data, error } = DatabaseUrl.safeParse(text)
  if (data) return data
  throw new OperatorError(`${name}: ${error.issues.map(({ message }) => message).join(', ')}.`)
}

/** A database in memory is refused too: it could not be shared between threads. */
function pathOf(url: string): string | undefined {
  if (!/^file:[^?#]+$/.test(url) || url.includes(':memory:')) return undefined
  try {
    return url.startsWith('file://') ? fileURLToPath(url) : resolve(url.slice('file:'.length))
  } catch {
    return undefined
  }
}

const BaseUrl = z
  .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''))
  .refine((url) => !url.endsWith('/v1'), 'expected the address without /v1, which is added')

const Origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'expected origins such as https://shop.example',
  )

const ProxyAddress = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'expected IP addresses or CIDR ranges')

const secondsIn: Record<string, number> = { s: 1, min: 60, h: 3_600 }

const RateText = z.string().transform((text, context): Rate => {
  const [, requests, unit = ''] = /^([1-9]\d{0,8})\/(s|min|h)$/.exec(text) ?? []
  if (!requests) context.addIssue('expected a number of requests in a time, such as 50/s, 1000/min or 20000/h')
  return { requests: Number(requests), seconds: secondsIn[unit] ?? 0 }
})

const ApiKeyText = z.string().refine(isApiKey, 'expected an API key as "npm run petstore -- keys create" makes them')

const ApiKeyFile = z.string().transform((path, context) => {
  const { data, error } = ApiKeyText.safeParse(readText(path))
  if (error) context.addIssue('expected a file that holds an API key as "npm run petstore -- keys create" makes them')
  return data
})

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

const Interval = z.string().transform((text, context) => {
  const length = parseDuration(text)
  if (length === undefined) context.addIssue('expected a duration such as 30m, 6h or 1d')
  return length
})

const Count = z
  .string()
  .regex(/^[1-9]\d{0,3}$/, 'expected a number from 1 to 9999')
  .transform(Number)

const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: Port.prefault('3000'),
  REUSE_PORT: z.stringbool('expected true or false').default(false),
  DATABASE_URL: DatabaseUrl.prefault('file:data/petstore.db'),
  PUBLIC_URL: BaseUrl.optional(),
  STAGING_URL: BaseUrl.optional(),
  LOG_LEVEL: z.enum(logLevels, `expected one of ${logLevels.join(', ')}`).default('info'),
  CORS_ORIGINS: list(Origin),
  TRUST_PROXY: list(ProxyAddress),
  RATE_LIMIT: RateText.optional(),
  PETSTORE_API_KEY: ApiKeyText.optional(),
  PETSTORE_API_KEY_FILE: ApiKeyFile.optional(),
  BACKUP_EVERY: Interval.optional(),
  BACKUP_KEEP: Count.prefault('7'),
})

export interface Config {
  host: string
  port: number
  /** Whether to share the port with a predecessor or successor that does the same. */
  reusePort: boolean
  database: Location
  /** Where the service is reached from outside, without the path prefix; the listening address if it is not given. */
  publicUrl: string | undefined
  stagingUrl: string | undefined
  logLevel: (typeof logLevels)[number]
  corsOrigins: string[]
  /** The proxies whose X-Forwarded-For is believed. */
  trustProxy: string[]
  /** For each API key; and for each address, of failed sign-ins. */
  rateLimit: Rate | undefined
  /** A key to register at the start, for containers and CI. */
  apiKey: string | undefined
  /** Milliseconds between scheduled backups; without it there are none. */
  backupEvery: number | undefined
  /** How many scheduled backups are kept. */
  backupKeep: number
}

/**
 * Reads the configuration from environment variables; one that is empty counts as not set.
 *
 * @throws {OperatorError} that names every variable at fault.
 */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { data, error } = Environment.safeParse(given)
  const problems = error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? []
  if (given.PETSTORE_API_KEY && given.PETSTORE_API_KEY_FILE)
    problems.push('PETSTORE_API_KEY, PETSTORE_API_KEY_FILE: expected only one of them')
  if (data?.BACKUP_EVERY && data.DATABASE_URL.kind === 'postgres')
    problems.push('BACKUP_EVERY: expected only with a file; PostgreSQL has tools of its own, such as pg_dump')
  if (!data || problems.length > 0) {
    throw new OperatorError(`The configuration is wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
  return {
    host: data.HOST,
    port: data.PORT,
    reusePort: data.REUSE_PORT,
    database: data.DATABASE_URL,
    publicUrl: data.PUBLIC_URL,
    stagingUrl: data.STAGING_URL,
    logLevel: data.LOG_LEVEL,
    corsOrigins: data.CORS_ORIGINS,
    trustProxy: data.TRUST_PROXY,
    rateLimit: data.RATE_LIMIT,
    apiKey: data.PETSTORE_API_KEY ?? data.PETSTORE_API_KEY_FILE,
    backupEvery: data.BACKUP_EVERY,
    backupKeep: data.BACKUP_KEEP,
  }
}

function list<T extends z.ZodType<unknown, string>>(item: T) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item))
    .default([])
}
