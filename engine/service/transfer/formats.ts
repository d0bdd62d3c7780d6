import { stringify } from 'csv-stringify/sync'
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

/** CSV as in RFC 4180. An apostrophe before a formula makes a spreadsheet read a text (OWASP, CSV Injection). */
function writeCsv(items: Item[], columns: string[], header = false): string {
  return stringify(items, {
    columns,
    header,
    record_delimiter: 'windows',
    cast: {
      boolean: String,
      date: (time) => time.toISOString(),
      string: (text) => text.replace(/^'*[=+\-@＝＋－＠]/, "'$&"),
    },
  })
}
