import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

/** Bytes that may wait until standard output accepts them. */
const maxWaiting = 1024 * 1024

/** Logs to standard output: formatted lines on a terminal, JSON lines elsewhere. Request headers are never logged. */
export function createLog(level: Config['logLevel'], isTerminal: boolean): Logger {
  return pino(
    { level },
    isTerminal ? pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }) : droppingOutput(),
  )
}

/** Drops lines that cannot be written, because the disk is full or the reader is slow. A log must not stop the service. */
function droppingOutput(): DestinationStream {
  process.stdout.on('error', () => {})
  return {
    write(line) {
      if (process.stdout.writableLength < maxWaiting) process.stdout.write(line)
    },
  }
}
