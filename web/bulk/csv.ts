/** A line of CSV as in RFC 4180. The export of the service writes the same bytes. */
export function csvLine(values: unknown[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: unknown): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
