import { createHash } from 'node:crypto'
import { writers } from './formats.ts'
import type { Write } from './output.ts'
import type { Format, Item, ItemStore, Resource } from './resource.ts'

const pageSize = 1_000

interface ExportOptions {
  format: Format
  /** Exports only items with these values. */
  filters?: object
  /** Called with the number of items that are written. */
  onProgress?: ((items: number) => void) | undefined
}

/** Writes all items in ascending order of their ids. Items that are created meanwhile may be included at the end. */
export async function exportItems<New>(
  { item }: Resource<New>,
  items: ItemStore<New>,
  write: Write,
  { format, filters = {}, onProgress }: ExportOptions,
) {
  const columns = Object.keys(item.shape)
  const toText = writers[format]
  const hash = createHash('sha256')
  let written = 0

  async function append(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    await write(bytes)
  }

  await append(toText([], columns, true))
  for await (const page of readPages(items, filters)) {
    await append(toText(page, columns))
    written += page.length
    onProgress?.(written)
  }
  return { written, sha256: hash.digest('hex') }
}

async function* readPages<New>(items: ItemStore<New>, filters: object): AsyncGenerator<Item[]> {
  let cursor = 0n
  for (;;) {
    const page = await items.list({ limit: pageSize, cursor, ...filters })
    const last = page.at(-1)
    if (!last) return
    yield page
    cursor = last.id
  }
}
