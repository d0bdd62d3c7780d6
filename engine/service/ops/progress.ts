import type { Progress } from '#store/backup'
import type { CopyProgress } from '#store/operations'

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

/** The number of items so far, and of all if that is known. */
export function describeCount(verb: string, items: string, total?: number): (done: number) => string {
  return (done) => `${verb} ${done} ${total === undefined ? items : `of ${total} ${items} (${percent(done, total)})`}`
}

/** The source of `db copy` can grow meanwhile. */
function percent(done: number, total: number): string {
  return `${Math.min(100, Math.floor((done / total) * 100))} %`
}
