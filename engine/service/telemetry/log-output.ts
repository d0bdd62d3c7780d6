import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import type { WriteStream } from 'node:tty'

/** Bytes that may wait until the output accepts them. */
const maxWaiting = 1024 * 1024
/** Milliseconds between two attempts to write to an output that accepts nothing. */
const retryDelay = 20
/** Milliseconds that the end of the process waits for a slow reader. */
const maxExitDelay = 1_000

export type Output = ReturnType<typeof outputTo>

/**
 * Writes to a file descriptor without waiting for its reader. A paused terminal, a pipe that is not read, or a full disk
 * must stop neither requests nor a graceful stop. Text that the output does not accept waits in order, and does not keep
 * the process alive. While {@link maxWaiting} bytes wait, lines are dropped and counted.
 *
 * @param fd a descriptor that does not block, or a file
 * @param onRecovered called with the number of dropped lines when lines are accepted again
 */
export function outputTo(fd: number, onRecovered: (lines: number) => void) {
  const waiting: Buffer[] = []
  let [waitingBytes, dropped, unreported] = [0, 0, 0]
  let timer: NodeJS.Timeout | undefined

  /** Returns the code of the error if the output does not accept everything. */
  function writeWaiting(): string | undefined {
    try {
      for (let first = waiting[0]; first; first = waiting[0]) {
        const written = writeSync(fd, first)
        waitingBytes -= written
        if (written === first.length) waiting.shift()
        else waiting[0] = first.subarray(written)
      }
    } catch (error) {
      timer ??= setTimeout(() => {
        timer = undefined
        writeWaiting()
      }, retryDelay).unref()
      return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    } finally {
      report()
    }
    return undefined
  }

  /** Not before half of the text is written, because a slow reader would otherwise cause a report for each batch. */
  function report(): void {
    if (unreported === 0 || waitingBytes > maxWaiting / 2) return
    const lines = unreported
    unreported = 0
    onRecovered(lines)
  }

  return {
    /** The number of lines that were dropped since the start. */
    get dropped() {
      return dropped
    },
    write(text: string) {
      writeWaiting()
      if (waitingBytes >= maxWaiting || unreported > 0) {
        const lines = text.split('\n').length - 1
        dropped += lines
        unreported += lines
        return
      }
      const buffer = Buffer.from(text)
      waiting.push(buffer)
      waitingBytes += buffer.length
      writeWaiting()
    },
    /** Writes what waits, for at most {@link maxExitDelay}, and drops the rest: another file may get the descriptor. Blocks. */
    close() {
      const deadline = performance.now() + maxExitDelay
      while (writeWaiting() === 'EAGAIN' && performance.now() < deadline) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
      }
      clearTimeout(timer)
      waiting.length = 0
    },
  }
}

/**
 * Makes everything that the process writes to a standard stream go through an {@link Output}: log lines, warnings of Node,
 * and the output of threads. Node would wait for a paused terminal, and not end while a pipe is not read.
 */
export function unblock(stream: WriteStream & { fd: 1 | 2 }, onRecovered: (lines: number) => void): Output {
  if (stream.isTTY) reopenTerminal(stream.fd)
  const output = outputTo(stream.fd, onRecovered)
  stream.write = (chunk: string | Uint8Array, ...options: unknown[]) => {
    output.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    const callback = options.find((option) => typeof option === 'function')
    if (callback) process.nextTick(callback)
    return true
  }
  process.on('exit', () => output.close())
  return output
}

const nonBlocking = constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK

/**
 * Replaces the descriptor of a terminal by one that does not block, also for the errors that Node writes when the process
 * crashes. Opened anew, because a terminal shares its descriptor with the shell. Pipes and sockets do not block anyway.
 */
function reopenTerminal(fd: 1 | 2): void {
  for (const path of [`/proc/self/fd/${fd}`, '/dev/tty']) {
    try {
      const terminal = openSync(path, nonBlocking)
      closeSync(fd)
      // POSIX returns the lowest free descriptor, which is the one just closed.
      openSync(path === '/dev/tty' ? path : `/proc/self/fd/${terminal}`, nonBlocking)
      closeSync(terminal)
      return
    } catch {
      // Another user owns the terminal, or the system has no /proc.
    }
  }
}

/** Whether systemd's journal reads the output: JOURNAL_STREAM of systemd.exec(5). A program in a terminal may inherit it. */
export function isJournal(fd: number | undefined, stream: string | undefined): boolean {
  if (fd === undefined || !stream) return false
  const { dev, ino } = fstatSync(fd, { bigint: true })
  return stream === `${dev}:${ino}`
}

/** The priorities of syslog(3) for pino's levels. The journal takes a line without one as info. */
const priorities: Partial<Record<number, number>> = { 60: 2, 50: 3, 40: 4, 20: 7, 10: 7 }

/** Adds the priority of the level to each line, as sd-daemon(3) describes. The journal removes it again. */
export function withPriority(level: number, text: string): string {
  const priority = priorities[level]
  return priority === undefined ? text : text.replaceAll(/^(?=.)/gm, `<${priority}>`)
}
