import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { NewApiKey } from '../../db/keys/store.ts'

/** The first characters of every API key. */
export const prefix = 'pet_'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const format = /^pet_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

/**
 * Creates an API key: `pet_`, 32 random base62 characters (190 bits) and their CRC-32 in six more. The checksum rejects a
 * mistyped or truncated key without a database lookup.
 */
export function mintApiKey(): string {
  const secret = Array.from({ length: 32 }, () => base62[randomInt(base62.length)]).join('')
  return prefix + secret + checksum(secret)
}

export function isApiKey(text: string): boolean {
  const [, secret, sum] = format.exec(text) ?? []
  return secret !== undefined && checksum(secret) === sum
}

/** SHA-256 in hexadecimal. A key has too many random bits to be guessed from it, so a slow hash is not needed. */
export function hashApiKey(key: string): string {
  return hash('sha256', key)
}

/** The record that the store keeps. `lifetime` is in milliseconds; without one the key does not expire. */
export function apiKeyRecord(key: string, name: string, lifetime?: number): NewApiKey {
  const createdAt = new Date()
  const expiresAt = lifetime === undefined ? undefined : new Date(createdAt.getTime() + lifetime)
  return { name, start: startOf(key), hash: hashApiKey(key), createdAt, expiresAt }
}

/** The part of a key that may be shown to identify it. */
export function startOf(key: string): string {
  return key.slice(0, prefix.length + 6)
}

/** Like {@link startOf} for a text that may be another secret: undefined unless it begins with the prefix of API keys. */
export function startOfUnknown(text: string): string | undefined {
  return /^pet_[0-9A-Za-z]{0,6}/.exec(text)?.[0]
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
