import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

/** Bytes that may wait for a slow reader. */
const mostWaiting = 1024 * 1024

/** Logs to standard output: JSON lines, or something for the eye on a terminal. Request headers are never logged. */
export function createLog(level: Config['logLevel'], isTerminal: boolean): Logger {
  return pino(
    { level },
    isTerminal ? pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }) : droppingOutput(),
  )
}

/** Drops what cannot be written, because the disk is full or nobody reads: a log must not stop the service. */
function droppingOutput(): DestinationStream {
  process.stdout.on('error', () => {})
  return {
    write(line) {
      if (process.stdout.writableLength < mostWaiting) process.stdout.write(line)
    },
  }
}
