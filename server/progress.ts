import type { WriteStream } from 'node:tty'
import type { OnProgress } from '../db/sqlite/partial.ts'

const mebibyte = 1024 * 1024

/** Shows a person how far a copy is, on one line that is gone afterwards; anything but a terminal is shown nothing. */
export async function withProgress<T>(
  terminal: Pick<WriteStream, 'isTTY' | 'write'>,
  work: (onProgress?: OnProgress) => Promise<T>,
): Promise<T> {
  if (!terminal.isTTY) return work()
  try {
    return await work(({ done, total }) => terminal.write(`\r${describe(done, total)}`))
  } finally {
    terminal.write('\r\x1b[K')
  }
}

/** The copy leaves out what the source has no more use for, and so may end below 100 %. */
function describe(done: number, total: number): string {
  const percent = Math.min(100, Math.floor((done / total) * 100))
  return `Copied ${mebibytes(done)} of ${mebibytes(total)} MiB (${percent} %)`
}

function mebibytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(1)
}
