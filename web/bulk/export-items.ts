import { type Field, type Item, namesOf, type Procedures, type Resource } from '../resource.ts'
import { csvLine } from './csv.ts'
import { type RetryOptions, retryWhileAway } from './retry-while-away.ts'

/** How each format writes items. Numbers have all of their digits. */
const writers = {
  csv: {
    type: 'text/csv',
    start: (fields: readonly Field[]) => csvLine(namesOf(fields)),
    write: (fields: readonly Field[], item: Item) => csvLine(fields.map(({ name }) => item[name])),
    separator: '',
    end: '',
  },
  json: {
    type: 'application/json',
    start: () => '[\n',
    write: (fields: readonly Field[], item: Item) => {
      const given = fields.filter(({ name }) => item[name] !== undefined)
      return `{${given.map(({ name }) => `${JSON.stringify(name)}:${jsonOf(item[name])}`)}}`
    },
    separator: ',\n',
    end: '\n]\n',
  },
}

function jsonOf(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

export type ExportFormat = keyof typeof writers

interface ExportOptions extends RetryOptions {
  format: ExportFormat
  /** Further input of the list. */
  filter: object
  /** Called with the number of items that are exported. */
  onProgress: (items: number) => void
}

/**
 * Loads all items in ascending order of their ids. While the service is away, it waits. Items that are created meanwhile
 * may be included at the end.
 */
export async function exportItems(
  { fields }: Resource,
  { list }: Pick<Procedures, 'list'>,
  { format, filter, signal, onProgress, onPause }: ExportOptions,
): Promise<Blob> {
  const { type, start, write, separator, end } = writers[format]
  const retry = retryWhileAway({ signal, onPause })
  const pages: string[] = []
  let [cursor, items] = [0n, 0]
  for (;;) {
    const page = await retry(() => list.query({ ...filter, cursor, limit: 100 }, { signal }))
    const last = page.at(-1)
    if (!last) return new Blob([start(fields), pages.join(separator), end], { type })
    pages.push(page.map((item) => write(fields, item)).join(separator))
    cursor = last.id
    items += page.length
    onProgress(items)
  }
}
