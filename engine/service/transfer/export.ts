import { createHash, randomBytes } from 'node:crypto'
import { renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { giveAway, type Ownership, publish, realPathOf, withCleanup } from '#store/operator'
import type { Item, ItemStore, ItemType } from '../api/transfer.ts'
import { OperatorError, withFileErrors } from '../operator/operator-error.ts'
import { csvLine } from '../reader/fields.ts'
import type { Format } from './fields.ts'

/** Resolves when the next bytes may be written. */
export type Write = (bytes: Uint8Array) => Promise<unknown>

/**
 * Writes a file that appears only when it is complete and on disk. Until then it has a temporary name in the same folder.
 * A file that exists is refused, unless `overwrite` allows to replace it, and a file of the database always. Without an `ownership`, the file belongs to this
 * user, and no other user can read it.
 */
export function writeFile<T>(
  file: string,
  { overwrite, database, ownership }: TargetOptions & { ownership?: Ownership | undefined },
  use: (write: Write) => Promise<T>,
): Promise<T> {
  return withFileErrors(file, 'written', async () => {
    const path = chooseTarget(file, { overwrite, database })
    const partial = `${path}.${randomBytes(4).toString('hex')}.partial`
    const remove = () => rmSync(partial, { force: true })
    return withCleanup(remove, async () => {
      const handle = await open(partial, 'wx', 0o600)
      try {
        if (ownership) giveAway(handle.fd, ownership)
        const result = await use((bytes) => handle.writeFile(bytes))
        await handle.sync()
        if (overwrite) renameSync(partial, path)
        else if (!publish(partial, path)) throw exists(file)
        return result
      } finally {
        await handle.close()
      }
    })
  })
}

interface TargetOptions {
  overwrite: boolean
  /** The SQLite file of the store, if there is one. Its own files are never overwritten. */
  database?: string | undefined
}

/** The path without symbolic links, because a rename would replace a link. It would also replace a device. */
function chooseTarget(file: string, { overwrite, database }: TargetOptions): string {
  const path = realPathOf(file)
  if (database !== undefined && databaseSuffixes.some((suffix) => path === realPathOf(database) + suffix))
    throw new OperatorError(`${file} is a file of the database. Choose another name.`)
  const current = statSync(path, { throwIfNoEntry: false })
  if (!current) return path
  if (!overwrite) throw exists(file)
  if (!current.isFile()) throw new OperatorError(`${file} is not a file. Choose another name, or use standard output.`)
  return path
}

/** The endings of the database, its log, the index of the log, and its rollback journal. */
const databaseSuffixes = ['', '-wal', '-shm', '-journal']

function exists(file: string): OperatorError {
  return new OperatorError(`${file} already exists. Choose another name, or overwrite it with --force.`)
}

/** Writes to standard output as fast as its reader reads. */
export function writeStream<T>(stream: Writable, use: (write: Write) => Promise<T>): Promise<T> {
  // The callback of `write` reports the error.
  stream.on('error', () => {})
  const write = (bytes: Uint8Array) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(error) : resolve(undefined)))
    })
  return use((bytes) => withFileErrors('Standard output', 'written', () => write(bytes)))
}

interface ExportOptions {
  format: Format
  /** Exports only items with these values. */
  filters?: object
  /** Called with the number of items that are written. */
  onProgress?: ((items: number) => void) | undefined
}

/** Writes all items in ascending order of their ids. Items that are created meanwhile may be included at the end. */
export async function exportItems<New>(
  { item }: ItemType<New>,
  items: ItemStore<New>,
  write: Write,
  { format, filters = {}, onProgress }: ExportOptions,
) {
  const columns = Object.keys(item.shape)
  const toLine = format === 'csv' ? toCsv : toNdjson
  const hash = createHash('sha256')
  let written = 0

  async function append(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    await write(bytes)
  }

  if (format === 'csv') await append(csvLine(columns))
  let cursor: bigint | undefined = 0n
  while (cursor !== undefined) {
    const page: Item[] = await items.list({ limit: 1_000, cursor, ...filters })
    await append(page.map((item) => toLine(item, columns)).join(''))
    written += page.length
    if (page.length > 0) onProgress?.(written)
    cursor = page.at(-1)?.id
  }
  return { written, sha256: hash.digest('hex') }
}

/** One JSON object per line (https://github.com/ndjson/ndjson-spec). Integers have all their digits. */
function toNdjson(item: Item, columns: string[]): string {
  return `{${columns.flatMap((name) => (item[name] === undefined ? [] : `"${name}":${toJson(item[name])}`))}}\n`
}

function toJson(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

function toCsv(item: Item, columns: string[]): string {
  return csvLine(columns.map((name) => item[name]))
}
