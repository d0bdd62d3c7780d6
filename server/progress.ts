import type { WriteStream } from 'node:tty'
import type { OnProgress, Progress } from '../db/sqlite/partial.ts'

const mebibyte = 1024 * 1024

/** Shows a person how far a copy is, on one line that is gone afterwards; anything but a terminal is shown nothing. */
export async function withProgress<T>(
  terminal: Pick<WriteStream, 'isTTY' | 'write'>,
  work: (onProgress?: OnProgress) => Promise<T>,
): Promise<T> {
  if (!terminal.isTTY) return work()
  try {
    return await work((progress) => terminal.write(`\r${describe(progress)}\x1b[K`))
  } finally {
    terminal.write('\r\x1b[K')
  }
}

function describe({ step, done, total }: Progress): string {
  if (step === 'check') return `Checking ${mebibytes(total)} MiB`
  if (step === 'check copy') return 'Checking the copy'
  // The copy leaves out what the source has no more use for, and may so end below 100 %.
  const percent = Math.min(100, Math.floor((done / total) * 100))
  return `Copied ${mebibytes(done)} of ${mebibytes(total)} MiB (${percent} %)`
}

function mebibytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(1)
}
