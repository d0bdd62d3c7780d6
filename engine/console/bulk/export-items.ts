import { loadPart, maxLimit, type Start } from '../resource/search.ts'
import type { Found, Procedures, Resource, Values } from '../resource.ts'
import { type RetryOptions, retryWhileAway } from './retry-while-away.ts'
import { type FileFormat, fileOf } from './write-file.ts'

interface ExportOptions extends RetryOptions {
  format: FileFormat
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
  { format, filter, search, signal, onProgress, onPause }: ExportOptions,
): Promise<Blob> {
  const retry = retryWhileAway({ signal, onPause })
  const file = fileOf(resource, format)
  let items = 0
  let next: Found['next'] = 0n
  while (next !== undefined) {
    const start: Start = { filter, search, cursor: next }
    const part: Found = await retry(() => loadPart(resource, procedures, start, maxLimit, { signal }))
    file.add(part.items)
    items += part.items.length
    onProgress(items)
    next = part.next
  }
  return file.blob()
}
