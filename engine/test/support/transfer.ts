import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ItemStore, ItemType, Transfer } from '../../service/api/transfer.ts'
import { exportItems } from '../../service/transfer/export.ts'
import type { Format } from '../../service/transfer/fields.ts'
import { importItems, readItems } from '../../service/transfer/import.ts'
import { type Input, withInput } from '../../service/transfer/input.ts'
import type { BaseStore } from '../../store/collection/base-store.ts'
import { temporaryFolder } from './temporary.ts'

interface ImportOptions {
  format?: Format
  key?: string
  /** The path of the file. By default a new one for each import. */
  file?: string
  onInvalid?: (description: string) => void
}

/** Exports and imports the items of a resource. */
export function transferFixtures<Store extends BaseStore, New>(items: Transfer<Store, New>) {
  return {
    /** Exports the items of a store, and returns the text. */
    exportText: (store: Store, format: Format = 'ndjson', filters: Record<string, unknown> = {}) =>
      exportedText(items, items.collection(store), { format, filters }),
    /** Imports a file of items with this content. */
    importText: (store: Store, content: string | Buffer, options: ImportOptions = {}) =>
      importItemsOf(items, items.collection(store), content, options),
    /**
     * Reads a file with this content. Resolves to the number of items, to them, and to the descriptions of the invalid
     * lines.
     *
     * @param format by default it is detected
     */
    async checkText(content: string | Buffer, format?: Format) {
      const skipped: string[] = []
      const found: New[] = []
      await withContent(content, format, async (input) => {
        const options = { format, onInvalid: (line: string) => void skipped.push(line) }
        for await (const each of readItems(items, input, options)) found.push(...each.map(({ item }) => item))
      })
      return { count: found.length, found, skipped }
    },
  }
}

/** Exports the items of a resource, and returns the text. */
export async function exportedText<New>(
  itemType: ItemType<New>,
  items: ItemStore<New>,
  options: Parameters<typeof exportItems>[3],
): Promise<string> {
  const chunks: Uint8Array[] = []
  await exportItems(itemType, items, async (bytes) => chunks.push(bytes), options)
  return Buffer.concat(chunks).toString()
}

/** Imports a file of a resource with this content. */
export async function importItemsOf<New>(
  itemType: ItemType<New>,
  items: ItemStore<New>,
  content: string | Buffer,
  { format = 'ndjson', file, ...options }: ImportOptions = {},
) {
  return withContent(content, format, (input) => importItems(itemType, items, input, { format, ...options }), file)
}

function withContent<T>(
  content: string | Buffer,
  format: Format | undefined,
  use: (input: Input) => Promise<T>,
  file = join(temporaryFolder(), `items.${format}`),
): Promise<T> {
  writeFileSync(file, content)
  return withInput(file, use)
}
