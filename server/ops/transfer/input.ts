import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stdin } from 'node:process'
import { OperatorError } from '../operator-error.ts'
import { withFileErrors } from './file-error.ts'

/** An input that can be read several times. */
export interface Input {
  /** The path, or `standard input`, for messages. */
  name: string
  /** Whether the command can read the same bytes when it runs again: a file, not a pipe. */
  isFile: boolean
  /** Reads all bytes from the beginning. */
  read(): AsyncGenerator<Buffer>
}

/** Complete lines of UTF-8 text. */
export interface Block {
  /** The number of the first line, from 1. */
  line: number
  bytes: Buffer
}

const chunkSize = 64 * 1024
/** Bytes of a line, as many as the body of a request may have. It bounds the memory. */
export const maxLineLength = 64 * 1024
const newline = 0x0a
const byteOrderMark = Buffer.from('\ufeff')

/**
 * Opens a file. Standard input (`-`) and pipes are copied to a temporary file first, because an import reads its input
 * twice.
 */
export async function withInput<T>(file: string, use: (input: Input) => Promise<T>): Promise<T> {
  if (file === '-') return withCopy('standard input', stdin, use)
  const source = await withFileErrors(file, 'read', () => open(file))
  try {
    const stats = await source.stat()
    if (stats.isFIFO()) return await withCopy(file, source.createReadStream({ autoClose: false }), use)
    return await use({ name: file, isFile: true, read: () => readChunks(source, file) })
  } finally {
    await source.close()
  }
}

async function withCopy<T>(name: string, source: AsyncIterable<Buffer>, use: (input: Input) => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `petstore-${randomBytes(8).toString('hex')}.partial`)
  const copy = await withFileErrors(path, 'written', () => open(path, 'wx+', 0o600))
  try {
    await withFileErrors(path, 'written', async () => {
      // An open file needs no name, and nothing is left if the process is killed.
      await unlink(path)
      for await (const chunk of source) await copy.writeFile(chunk)
    })
    return await use({ name, isFile: false, read: () => readChunks(copy, name) })
  } finally {
    await copy.close()
  }
}

async function* readChunks(file: FileHandle, name: string): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(chunkSize)
    const { bytesRead } = await withFileErrors(name, 'read', () => file.read({ buffer, position }))
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/**
 * Divides the bytes at the ends of lines and removes a byte order mark.
 *
 * @throws {OperatorError} if a line is too long or not UTF-8.
 */
export async function* readBlocks(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Block> {
  let line = 1
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline) + 1
    if (end === 0) rest = Buffer.concat([rest, chunk])
    else {
      const bytes = Buffer.concat([rest, chunk.subarray(0, end)])
      yield toBlock(line, bytes, name)
      line += countLines(bytes)
      rest = chunk.subarray(end)
    }
    if (rest.length > maxLineLength) {
      throw new OperatorError(`Line ${line} of ${name} is longer than 64 KiB. Check the format of the file.`)
    }
  }
  if (rest.length > 0) yield toBlock(line, rest, name)
}

function toBlock(line: number, bytes: Buffer, name: string): Block {
  if (isUtf8(bytes)) {
    const hasMark = line === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    return { line, bytes: hasMark ? bytes.subarray(byteOrderMark.length) : bytes }
  }
  throw new OperatorError(`Line ${line + lineOfError(bytes)} of ${name} is not UTF-8. Convert the file to UTF-8.`)
}

/** The index of the first line that is not UTF-8. */
function lineOfError(bytes: Buffer): number {
  let [index, start] = [0, 0]
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    if (!isUtf8(bytes.subarray(start, end))) return index
    index++
    start = end + 1
  }
  return index
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++
  return lines
}
