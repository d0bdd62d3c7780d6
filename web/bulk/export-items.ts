import { maxLimit, type PageCall, pageCalls } from '../resource/search.ts'
import type { Item, Procedures, Resource, Values } from '../resource.ts'
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
  // Without a search, `search` is not called.
  { list, search: find = list }: Pick<Procedures, 'list' | 'search'>,
  { format, filter, search, signal, onProgress, onPause }: ExportOptions,
): Promise<Blob> {
  const operations = { list, search: find }
  const retry = retryWhileAway({ signal, onPause })
  const send = ({ operation, input }: PageCall) => retry(() => operations[operation].query(input, { signal }))
  const file = fileOf(resource, format)
  // A search also finds single items, which its pages may contain.
  const single = new Map<bigint, Item>()
  let [cursor, items] = [0n, 0]
  for (;;) {
    const calls = pageCalls(resource, { filter, search, order: undefined, cursor }, maxLimit)
    const [page = [], ...others] = await Promise.all(calls.map(send))
    for (const item of others.flat()) single.set(item.id, item)
    const last = page.at(-1)
    const added = [...(cursor === 0n ? single.values() : []), ...page.filter(({ id }) => !single.has(id))]
    file.add(added)
    items += added.length
    onProgress(items)
    if (!last) return file.blob()
    cursor = last.id
  }
}
