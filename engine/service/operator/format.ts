import type { CopyProgress, Progress } from '#store/operator'

/** A number with its noun: `1 row`, `2 rows`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

export function alignColumns(rows: string[][]): string {
  const [first = []] = rows
  const widths = first.map((_, column) => rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0))
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** Such as `12.3 MiB`. */
export function describeSize(bytes: number): string {
  const sizes = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(sizes.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${sizes[power]}`
}

/** Milliseconds. */
const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Such as `3 h`: whole numbers of the largest unit that fits. */
export function describeDuration(milliseconds: number): string {
  const [unit, length] = Object.entries(units).findLast(([, length]) => milliseconds >= length) ?? ['s', 1_000]
  return `${Math.floor(milliseconds / length)} ${unit}`
}

/** A duration such as 30m, 12h or 90d, with at most five digits, in milliseconds; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([smhdw])$/.exec(text) ?? []
  const length = units[unit]
  return length === undefined ? undefined : Number(count) * length
}

/** Shows progress on one line of a terminal and clears the line in the end. Writes nothing to a file or a pipe. */
export async function withProgress<P, T>(
  describe: (progress: P) => string,
  work: (onProgress?: (progress: P) => void) => Promise<T>,
): Promise<T> {
  const terminal = process.stderr
  if (!terminal.isTTY) return work()
  try {
    return await work((progress) => terminal.write(`\r${describe(progress)}\x1b[K`))
  } finally {
    terminal.write('\r\x1b[K')
  }
}

/** The progress of a backup or a restore. */
export function describeBytes({ done, total }: Progress): string {
  if (done === total) return 'Checking the copy'
  const [copied, all] = [done, total].map((bytes) => (bytes / 1024 ** 2).toFixed(1))
  return `Copied ${copied} of ${all} MiB (${percent(done, total)})`
}

/** The progress of `db copy`. */
export function describeRows({ step, table, done, total }: CopyProgress): string {
  const verb = step === 'copy' ? 'Copied' : 'Compared'
  return `${verb} ${done} of ${total} rows of ${table} (${percent(done, total)})`
}

/** The source of `db copy` can grow meanwhile. */
function percent(done: number, total: number): string {
  return `${Math.min(100, Math.floor((done / total) * 100))} %`
}
