import { jsonOf } from '../requests/curl.ts'
import { type Field, type Item, namesOf, type Resource, textOf } from '../resource.ts'

interface Format {
  type: string
  start: (fields: readonly Field[]) => string
  write: (fields: readonly Field[], item: Item) => string
  separator: string
  end: string
}

/** How each format writes items. Numbers have all of their digits. */
const formats = {
  csv: {
    type: 'text/csv',
    start: (fields) => csvLine(namesOf(fields)),
    write: (fields, item) => csvLine(fields.map(({ name }) => item[name])),
    separator: '',
    end: '',
  },
  json: {
    type: 'application/json',
    start: () => '[\n',
    write: (fields, item) => jsonOf(Object.fromEntries(fields.map(({ name }) => [name, item[name]]))),
    separator: ',\n',
    end: '\n]\n',
  },
} satisfies Record<string, Format>

export type FileFormat = keyof typeof formats

/** A file of items. Further items can be added. */
export function fileOf({ fields }: Resource, format: FileFormat, first: Item[] = []) {
  const { type, start, write, separator, end }: Format = formats[format]
  const parts: string[] = []
  const file = {
    add(items: Item[]): void {
      for (const item of items) parts.push(write(fields, item))
    },
    text: () => start(fields) + parts.join(separator) + end,
    blob: () => new Blob([file.text()], { type }),
  }
  file.add(first)
  return file
}

/**
 * A line of CSV as in RFC 4180. An apostrophe before a formula makes a spreadsheet read a text (OWASP, CSV Injection). The
 * export of the service writes the same bytes.
 */
export function csvLine(values: unknown[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/^'*[=+\-@＝＋－＠]/, "'$&") : textOf(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Downloads the file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the URL after this turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
