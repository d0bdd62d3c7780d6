import { loadPart, maxLimit, type Start } from '../resource/search.ts'
import type { Found, Item, Procedures, Resource, Values } from '../resource.ts'
import { type RetryOptions, retryWhileAway } from '../rows/retry-while-away.ts'

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
