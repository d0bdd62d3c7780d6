import { createHash } from 'node:crypto'

/** The SHA-256 of rows in their order, whatever database they are read from. */
export class Checksum {
  readonly #hash = createHash('sha256')

  add(rows: object[]): void {
    this.#hash.update(rows.map((row) => `${JSON.stringify(Object.values(row).map(plain))}\n`).join(''))
  }

  /** In hexadecimal. */
  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** An integer as decimal digits, a time as ISO 8601. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Date ? value.toISOString() : value
}
