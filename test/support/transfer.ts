import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PetStatus } from '../../db/pets/pets.ts'
import type { Store } from '../../db/store.ts'
import { exportItems } from '../../engine/service/transfer/export.ts'
import type { Format, ItemStore, ItemType } from '../../engine/service/transfer/fields.ts'
import { importItems, readItems } from '../../engine/service/transfer/import.ts'
import { type Input, withInput } from '../../engine/service/transfer/input.ts'
import { petFiles } from '../../server/pets/files.ts'
import type { NewPet } from '../../server/pets/pets.ts'
import { temporaryFolder } from './temporary.ts'

/** What export and import know of pets. */
export const pets = petFiles

/** Exports the pets of a store, and returns the text. */
export async function exportText(store: Store, format: Format = 'ndjson', status?: PetStatus): Promise<string> {
  return exportedText(pets, store.pets, { format, filters: { status } })
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

/**
 * Reads a file with this content. Resolves to the number of pets, to them, and to the descriptions of the invalid lines.
 *
 * @param format by default it is detected
 */
export async function checkText(content: string | Buffer, format?: Format) {
  const skipped: string[] = []
  const found: NewPet[] = []
  await withContent(content, format, async (input) => {
    const options = { format, onInvalid: (line: string) => void skipped.push(line) }
    for await (const items of readItems(pets, input, options)) found.push(...items)
  })
  return { pets: found.length, found, skipped }
}

interface ImportOptions {
  format?: Format
  key?: string
  /** The path of the file. By default a new one for each import. */
  file?: string
  onInvalid?: (description: string) => void
}

/** Imports a file of pets with this content. */
export async function importText(store: Store, content: string | Buffer, options: ImportOptions = {}) {
  return importItemsOf(pets, store.pets, content, options)
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

/** Lines of NDJSON with pets named `pet 1`, `pet 2` and so on. */
export function ndjsonOf(count: number): string {
  return Array.from({ length: count }, (_, index) => `{"name":"pet ${index + 1}","categoryId":${index}}\n`).join('')
}
