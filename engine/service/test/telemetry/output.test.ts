import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { outputTo } from '../../telemetry/log-output.ts'

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants
/** More than a pipe holds, and less than may wait. */
const manyLines = Array.from({ length: 6_000 }, (_, index) => `line ${index} ${'x'.repeat(100)}`)
const allLines = `${manyLines.join('\n')}\n`

test('text that is not read waits, and arrives in order', async () => {
  const pipe = openPipe(O_RDWR)
  const { output } = openOutput(pipe.fd)
  output.write(`${manyLines.slice(0, 3_000).join('\n')}\n`)
  for (const line of manyLines.slice(3_000)) output.write(`${line}\n`)
  expect(output.dropped).toBe(0)
  expect(await pipe.readLines(manyLines.length)).toEqual(manyLines)
})

test('while a mebibyte waits, lines are dropped, counted, and reported before the next line', async () => {
  const pipe = openPipe(O_RDWR)
  const { output, reports } = openOutput(pipe.fd)
  for (let i = 0; i < 11; i++) output.write(`${String(i).repeat(100_000)}\n`)
  expect(output.dropped).toBe(0)
  for (let i = 0; i < 3; i++) output.write('dropped\ndropped\n')
  expect(output.dropped).toBe(6)
  expect(reports).toEqual([])
  const kept = await pipe.readLines(12)
  output.write('next\n')
  expect(kept.map((line) => line.slice(0, 1)).join('')).toBe('01234567891t')
  expect(kept.at(-1)).toBe('the output dropped 6 lines')
  expect(await pipe.readLines(1)).toEqual(['next'])
  expect(output.dropped).toBe(6)
})

test('lines wait while a pipe has no reader, and the next reader receives them', async () => {
  const pipe = openPipe(O_RDONLY)
  const writer = openSync(pipe.path, O_WRONLY | O_NONBLOCK)
  onTestFinished(() => closeSync(writer))
  const { output } = openOutput(writer)
  pipe.close()
  output.write('first\n')
  output.write('second\n')
  const next = openPipe(O_RDONLY, pipe.path)
  output.write('third\n')
  expect(await next.readLines(3)).toEqual(['first', 'second', 'third'])
})

test('the end of the process waits for a reader that reads', async () => {
  const pipe = openPipe(O_RDWR)
  const { output } = openOutput(pipe.fd)
  const copy = join(temporaryFolder(), 'copy')
  output.write(allLines)
  const size = Buffer.byteLength(allLines)
  const reader = spawn('sh', ['-c', `head -c ${size} "$0" > "$1"`, pipe.path, copy])
  output.close()
  await once(reader, 'close')
  expect(readFileSync(copy, 'utf8')).toBe(allLines)
})

test('the end of the process does not wait for long if nothing reads', () => {
  const { output } = openOutput(openPipe(O_RDWR).fd)
  output.write(allLines)
  const begin = performance.now()
  output.close()
  expect(performance.now() - begin).toBeLessThan(15_000)
})

test('a closed output writes nothing more', async () => {
  const pipe = openPipe(O_RDWR)
  const { output } = openOutput(pipe.fd)
  output.write(allLines)
  output.close()
  expect(pipe.read().length).toBeLessThan(allLines.length)
  await wait(300)
  expect(pipe.read()).toBe('')
})

/** A named pipe, which does not block. */
function openPipe(mode: number, path = join(temporaryFolder(), 'pipe')) {
  spawnSync('mkfifo', [path])
  const fd = openSync(path, mode | O_NONBLOCK)
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(fd)
    isOpen = false
  }
  onTestFinished(close)
  /** What the pipe holds. */
  function read(): string {
    const buffer = Buffer.alloc(65_536)
    let text = ''
    try {
      for (;;) text += buffer.toString('latin1', 0, readSync(fd, buffer))
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
      return text
    }
  }
  async function readLines(count: number): Promise<string[]> {
    let text = ''
    const countLines = () => {
      text += read()
      return text.split('\n').length - 1
    }
    await expect.poll(countLines, { interval: 1 }).toBe(count)
    return text.split('\n').slice(0, -1)
  }
  return { fd, path, close, read, readLines }
}

function openOutput(fd: number) {
  const reports: number[] = []
  const output = outputTo(fd, (lines) => {
    reports.push(lines)
    output.write(`the output dropped ${lines} lines\n`)
  })
  onTestFinished(() => output.close())
  return { output, reports }
}
