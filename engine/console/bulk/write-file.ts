import { namesOf } from '#service/fields'
import { csvLine } from '#service/reader'
import { jsonOf } from '../requests/curl.ts'
import type { Item, Resource } from '../resource.ts'

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
