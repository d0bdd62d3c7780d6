import { isRecord } from '../../service/api/validation.ts'

/** Reads and writes JSON with all integers as `bigint`, because a number would lose digits beyond 2^53. */

export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value, context?: { source: string }) =>
    typeof value === 'number' && context && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value,
  )
}

/** @param spell writes an integer, which JSON allows in several ways (`7`, `7.0`, `70e-1`) */
export function writeExactly(value: unknown, spell: (integer: bigint) => string = String): string {
  if (typeof value === 'bigint') return spell(value)
  if (Array.isArray(value)) return `[${value.map((each) => writeExactly(each, spell)).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${writeExactly(each, spell)}`)}}`
}

/** Turns the integers among the numbers in a value into `bigint`, and the dates into text. */
export function exactly(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(exactly)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exactly(each)]))
}
