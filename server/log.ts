import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** Logs to standard output: JSON lines, or something for the eye on a terminal. Request headers are never logged. */
export function createLog(level: LogLevel, isTerminal: boolean): Logger {
  return isTerminal ? pino({ level }, pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' })) : pino({ level })
}
