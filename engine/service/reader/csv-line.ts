import { textOf } from './fields.ts'

/** A line of CSV as in RFC 4180. An apostrophe before a formula makes a spreadsheet read a text (OWASP, CSV Injection). */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/^'*[=+\-@\t\r＝＋－＠]/, "'$&") : textOf(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
