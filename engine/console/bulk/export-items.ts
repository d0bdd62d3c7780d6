import { namesOf } from '#service/fields'
import { csvLine } from '#service/reader'
import { jsonOf } from '../requests/curl.ts'
import { loadPart, maxLimit, type Start } from '../resource/search.ts'
import type { Found, Item, Procedures, Resource, Values } from '../resource.ts'
import { type RetryOptions, retryWhileAway } from '../rows/batches.ts'

interface ExportOptions extends RetryOptions {
  /** Further input of the list. */
  filter: Values
  /** What the user searches for. Undefined for all items. */
  search?: string | undefined
  /** Called with the number of items that are exported. */
  onProgress: (items: number) => void
}

/**
 * Loads all items in ascending order of their ids, or those that a search finds in its order. While the service is away, it
 * waits. Items that are created meanwhile may be included.
 */
export async function exportItems(
  resource: Resource,
  procedures: Pick<Procedures, 'list' | 'search'>,
  { filter, search, signal, onProgress, onPause }: ExportOptions,
): Promise<Item[]> {
  const retry = retryWhileAway({ signal, onPause })
  const items: Item[] = []
  let next: Found['next'] = 0n
  while (next !== undefined) {
    const start: Start = { filter, search, cursor: next }
    const part: Found = await retry(() => loadPart(resource, procedures, start, maxLimit, { signal }))
    items.push(...part.items)
    onProgress(items.length)
    next = part.next
  }
  return items
}

const types = { csv: 'text/csv', json: 'application/json' }

export type FileFormat = keyof typeof types

/** The text of a file of items. Numbers have all of their digits. */
export function fileOf({ fields }: Resource, format: FileFormat, items: Item[]): string {
  if (format === 'csv') {
    const rows = items.map((item) => fields.map(({ name }) => item[name]))
    return [namesOf(fields), ...rows].map(csvLine).join('')
  }
  const objects = items.map((item) => jsonOf(Object.fromEntries(fields.map(({ name }) => [name, item[name]]))))
  return `[\n${objects.join(',\n')}\n]\n`
}

/** Downloads the file. Excel reads CSV as UTF-8 only with a byte order mark. */
export function saveFile(name: string, format: FileFormat, text: string): void {
  const url = URL.createObjectURL(new Blob([format === 'csv' ? '\ufeff' : '', text], { type: types[format] }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.${format}`
  link.click()
  // The browser reads the URL after this turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
