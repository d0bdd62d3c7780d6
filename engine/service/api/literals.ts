/** How numbers and times are written as text, in JSON, in URLs and in files. Needs neither Node nor Zod: browsers load it. */

/** Every integer of 20 digits is out of range. Longer ones are not needed, and a `bigint` of many digits is expensive. */
const maxDigits = 20
const outOfRange = 10n ** BigInt(maxDigits - 1)

/**
 * Matches JSON text with a number that a double might round: 16 digits in a row, also around a point, or an exponent. What
 * precedes a number is checked, so that few strings match.
 */
const mayHoldInexactNumber = /(?:^|[\s:,[])-?\d(?:[\d.]{15}|[\d.]{0,14}[eE])/

/**
 * Parses JSON (RFC 8259) without losing a digit of a 64-bit integer. An integer that a double cannot represent becomes a
 * `bigint`, of which 20 digits are kept. A fraction that a double would round to an integer becomes `NaN`.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseJson(text: string): unknown {
  return mayHoldInexactNumber.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
}

function exactNumber(_key: string, value: unknown, context?: { source: string }): unknown {
  if (typeof value !== 'number' || !context) return value
  const { source } = context
  if (!Number.isInteger(value) && Number.isFinite(value)) return value
  if (Math.abs(value) >= Number(outOfRange)) return value > 0 ? outOfRange : -outOfRange
  // A double keeps 15 digits. Only a number that is too small for a double becomes 0.
  if (source.length <= 15 && Number.isSafeInteger(value) && value !== 0) return value
  const exact = parseInteger(source)
  if (exact === undefined) return Number.NaN
  return Number.isSafeInteger(value) ? value : exact
}

const jsonNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The integer that a JSON number denotes (`5.0` and `50e-1` are 5), or its first 20 digits. Undefined if it has a fraction. */
function parseInteger(source: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = jsonNumber.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return 0n
  const wholeDigits = digits.length - fraction.length + Number(exponent)
  if (!/^0*$/.test(digits.slice(Math.max(wholeDigits, 0)))) return undefined
  const length = Math.min(wholeDigits, maxDigits)
  return BigInt(sign + digits.slice(0, length).padEnd(length, '0'))
}

declare global {
  interface JSON {
    /** Node has it, TypeScript's library does not. */
    rawJSON(text: string): object
  }
}

/** Like `JSON.stringify`, but a `bigint` becomes an integer with all its digits. */
export function writeJson(value: unknown, space?: number): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each), space)
}

/** The integer of decimal digits and an optional minus, or its first 20 digits. Undefined for any other text. */
export function parseDigits(text: string): bigint | undefined {
  return /^-?[0-9]+$/.test(text) ? parseInteger(text) : undefined
}

/** The integer that a number in the notation of JSON denotes, as in a request: `7.0` is 7. Undefined for any other text. */
export function parseNumber(text: string): bigint | undefined {
  return jsonNumber.test(text) ? parseInteger(text) : undefined
}

/** Whether the text is a time in UTC with milliseconds, and its day and hour exist. The calendar of PostgreSQL has no year 0. */
export function isTime(text: string): boolean {
  const time = new Date(text.length === 24 ? text : Number.NaN)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text && !text.startsWith('0000')
}
