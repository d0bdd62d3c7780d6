import { z } from 'zod'
import { mustBe } from './validation.ts'

export const minInt64 = -(2n ** 63n)
export const maxInt64 = 2n ** 63n - 1n

/** A 64-bit signed integer, exact over its whole range: a `bigint` in TypeScript, an integer in JSON. */
export const Int64 = z
  .bigint({ error: expectedInteger })
  .min(minInt64, { error: mustBe('a 64-bit integer') })
  .max(maxInt64, { error: mustBe('a 64-bit integer') })

/** JSON has no bigint, so only a caller of RPC can send an integer as a number. */
export function expectedInteger(issue: Parameters<ReturnType<typeof mustBe>>[0]): string {
  return (Number.isInteger(issue.input) ? mustBe('a bigint such as 7n', 'a number') : mustBe('an integer'))(issue)
}

export function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64
}
