import { isUtf8 } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { stdin } from 'node:process'
import { OperatorError, withFileErrors } from '../operator/operator-error.ts'
import { maxJson, mayBeUtf16, texts } from '../reader/reader.ts'

export interface Input {
  /** The path as it was given, or `standard input`, for messages. */
  name: string
  /** The absolute path of a file. A pipe and a device, such as `/dev/stdin`, have none: their names say nothing of the content. */
  path?: string
  chunks: AsyncIterable<Buffer>
}

const chunkSize = 64 * 1024
/** Bytes of a line, as many as the body of a request may have. It bounds the memory. */
const maxLineLength = 64 * 1024
const byteOrderMark = Buffer.from('\ufeff')

/** Opens a file, or standard input (`-`). */
export async function withInput<T>(file: string, use: (input: Input) => Promise<T>): Promise<T> {
  if (file === '-') return use({ name: 'standard input', chunks: stdin })
  const source = await withFileErrors(file, 'read', () => open(file))
  try {
    const path = resolve(file)
    const stats = await source.stat()
    if (stats.isDirectory()) throw new OperatorError(`${file} is a folder. Give the path of a file.`)
    const isNamed = !stats.isFIFO() && !/^\/(dev|proc)\//.test(path)
    return await use({ name: file, ...(isNamed && { path }), chunks: readChunks(source, file) })
  } finally {
    await source.close()
  }
}

async function* readChunks(file: FileHandle, name: string): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkSize)
    const { bytesRead } = await withFileErrors(name, 'read', () => file.read({ buffer }))
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** Divides the bytes at the ends of lines and removes a byte order mark. So each block is UTF-8 text. */
export async function* readBlocks({ chunks, name }: Input): AsyncGenerator<Buffer> {
  let line = 1
  let rest: Buffer = Buffer.alloc(0)
  let isArray = false
  for await (const chunk of chunks) {
    if (line === 1 && rest.length === 0) {
      refuseOtherFile(chunk, name)
      // Most programs write it as one line. The trim also removes a byte order mark.
      isArray = chunk.toString('utf8', 0, 1_024).trimStart().startsWith('[')
    }
    const end = endOfLines(chunk)
    if (end === 0) rest = Buffer.concat([rest, chunk])
    else {
      const bytes = Buffer.concat([rest, chunk.subarray(0, end)])
      yield toBlock(line, bytes, name)
      line += linesOf(bytes).length - 1
      rest = chunk.subarray(end)
    }
    if (isArray && rest.length > maxJson) throw new OperatorError(`${name}: ${texts.largeJson}`)
    if (!isArray && rest.length > maxLineLength)
      throw new OperatorError(`Line ${line} of ${name} is longer than 64 KiB. Check the format of the file.`)
  }
  if (rest.length > 0) yield toBlock(line, rest, name)
}

function refuseOtherFile(chunk: Buffer, name: string): void {
  const problem = chunk.toString('latin1', 0, 4).startsWith('PK\x03\x04')
    ? 'is a spreadsheet or a ZIP archive. Save it as CSV.'
    : chunk[0] === 0x1f && chunk[1] === 0x8b
      ? 'is compressed. Decompress it.'
      : mayBeUtf16(chunk)
        ? texts.notUtf8
        : undefined
  if (problem !== undefined) throw new OperatorError(`${name} ${problem}`)
}

function toBlock(line: number, bytes: Buffer, name: string): Buffer {
  if (isUtf8(bytes)) {
    const hasMark = line === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    return hasMark ? bytes.subarray(byteOrderMark.length) : bytes
  }
  const index = linesOf(bytes).findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')))
  throw new OperatorError(`Line ${line + index} of ${name} ${texts.notUtf8}`)
}

/** The index after the last end of a line: LF, CRLF, or CR, unless the next chunk may begin with its LF. */
function endOfLines(chunk: Buffer): number {
  return Math.max(chunk.lastIndexOf('\n'), chunk.subarray(0, -1).lastIndexOf('\r')) + 1
}

/** Splits the bytes into lines. Latin-1 has a character for every byte. */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString('latin1').split(/\r\n|\r|\n/)
}
