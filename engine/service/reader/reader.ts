import { csvReader } from './csv.ts'
import type { Field } from './fields.ts'
import { isJson, jsonReader } from './json.ts'
import type { Reader } from './table.ts'

/**
 * Reads the items of a file or of a pasted text, in the format that is given or that the start of the text shows: its first
 * lines, in UTF-8. It needs neither Node nor a page.
 */
export function itemReader(fields: readonly Field[], start: Uint8Array, format?: 'csv' | 'ndjson'): Reader {
  const text = new TextDecoder().decode(start)
  return (format === undefined ? isJson(text) : format === 'ndjson')
    ? jsonReader(fields, text)
    : csvReader(fields, start)
}

/** Whether a text may be UTF-16, which has a zero byte for each character of ASCII. */
export function mayBeUtf16(start: Uint8Array): boolean {
  return start.subarray(0, 1_024).includes(0)
}

export { csvLine } from './fields.ts'
export { maxJson } from './json.ts'
export { type Format, type Reader, type Row, type Table, Unreadable } from './table.ts'
export { texts } from './texts.ts'
