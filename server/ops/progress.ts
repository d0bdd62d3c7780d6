import type { WriteStream } from 'node:tty'
import type { CopyProgress } from '../../db/copy/copy-store.ts'
import type { Progress } from '../../db/sqlite/backup/partial.ts'

const mebibyte = 1024 * 1024

/** Shows a person how far the work is, on one line that is gone afterwards; anything but a terminal is shown nothing. */
export async function withProgress<P, T>(
  terminal: Pick<WriteStream, 'isTTY' | 'write'>,
  describe: (progress: P) => string,
  work: (onProgress?: (progress: P) => void) => Promise<T>,
): Promise<T> {
  if (!terminal.isTTY) return work()
  try {
    return await work((progress) => terminal.write(`\r${describe(progress)}\x1b[K`))
  } finally {
    terminal.write('\r\x1b[K')
  }
}

/** Of the copy of a file. */
export function describeBytes({ step, done, total }: Progress): string {
  if (step === 'check') return `Checking ${mebibytes(total)} MiB`
  if (step === 'check copy') return 'Checking the copy'
  return `Copied ${mebibytes(done)} of ${mebibytes(total)} MiB (${percent(done, total)})`
}

/** Of the copy of a store. */
export function describeRows({ step, table, done, total }: CopyProgress): string {
  const verb = step === 'copy' ? 'Copied' : 'Compared'
  return `${verb} ${done} of ${total} rows of ${table} (${percent(done, total)})`
}

/** The copy of a file leaves out what the source has no more use for, and may so end below 100 %. */
function percent(done: number, total: number): string {
  return `${Math.min(100, Math.floor((done / total) * 100))} %`
}

function mebibytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(1)
}
