import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ApiKey, NewApiKey } from '#store'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** What a key may call: queries, and with `write` mutations, too. */
export type Access = ApiKey['access']

/** A key, which cannot be shown again, and the record that the store keeps. */
export interface MintedKey {
  key: string
  record: NewApiKey
}

/** The API keys of a product: its prefix, 32 random base62 characters (190 bits) and their CRC-32 in six more. */
export function apiKeyFormat(prefix: string) {
  const format = new RegExp(`^${RegExp.escape(prefix)}([0-9A-Za-z]{32})([0-9A-Za-z]{6})$`)
  const beginning = new RegExp(`^${RegExp.escape(prefix)}[0-9A-Za-z]{0,6}`)

  /** `lifetime` is in milliseconds; without one the key does not expire. */
  function mintApiKey(name: string, lifetime?: number, access?: Access): MintedKey {
    const secret = Array.from({ length: 32 }, () => base62[randomInt(base62.length)]).join('')
    // The checksum rejects a mistyped or truncated key without a database lookup.
    const key = prefix + secret + checksum(secret)
    return { key, record: apiKeyRecord(key, name, lifetime, access) }
  }

  function isApiKey(text: string): boolean {
    const [, secret, sum] = format.exec(text) ?? []
    return secret !== undefined && checksum(secret) === sum
  }

  /** The part of a key that may be shown to identify it. */
  function startOf(key: string): string {
    return key.slice(0, prefix.length + 6)
  }

  /** Like {@link startOf} for a text that may be another secret: undefined unless it begins with the prefix of API keys. */
  function startOfUnknown(text: string): string | undefined {
    return beginning.exec(text)?.[0]
  }

  /** What the store keeps of a key of {@link mintApiKey}. */
  function apiKeyRecord(key: string, name: string, lifetime?: number, access: Access = 'write'): NewApiKey {
    const createdAt = new Date()
    const expiresAt = lifetime === undefined ? undefined : new Date(createdAt.getTime() + lifetime)
    return { name, start: startOf(key), hash: hashApiKey(key), createdAt, expiresAt, access }
  }

  return { prefix, mintApiKey, isApiKey, startOf, startOfUnknown, apiKeyRecord }
}

/** SHA-256 in hexadecimal. A key has too many random bits to be guessed from it, so a slow hash is not needed. */
export function hashApiKey(key: string): string {
  return hash('sha256', key)
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let sum = ''
  for (let i = 0; i < 6; i++) {
    sum = base62[rest % base62.length] + sum
    rest = Math.floor(rest / base62.length)
  }
  return sum
}

/** Why a key is refused at a time, in milliseconds since the epoch. Fails closed: a key with an unreadable time counts as expired. */
export function rejectionOf(
  { createdAt, expiresAt, revokedAt }: ApiKey,
  now: number,
): 'revoked' | 'expired' | undefined {
  if (revokedAt !== undefined) return 'revoked'
  const isCurrent = expiresAt === undefined || expiresAt.getTime() > now
  return isCurrent && !Number.isNaN(createdAt.getTime()) ? undefined : 'expired'
}
