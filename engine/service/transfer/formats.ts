import { csvLine } from '../reader/fields.ts'
import type { Item } from './fields.ts'

export const writers = { ndjson: writeNdjson, csv: writeCsv }

/** One JSON object per line (https://github.com/ndjson/ndjson-spec). Integers have all their digits. */
function writeNdjson(items: Item[], columns: string[]): string {
  return items
    .map((item) => {
      const members = columns.flatMap((name) => (item[name] === undefined ? [] : [`"${name}":${toJson(item[name])}`]))
      return `{${members}}\n`
    })
    .join('')
}

function toJson(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

function writeCsv(items: Item[], columns: string[], header = false): string {
  const rows = items.map((item) => columns.map((name) => item[name]))
  return [...(header ? [columns] : []), ...rows].map(csvLine).join('')
}
