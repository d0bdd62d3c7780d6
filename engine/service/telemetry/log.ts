import { hostname } from 'node:os'
import type { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { type Config, environment } from '../config.ts'
import { oncePerSecond } from '../http/error-responses.ts'
import { clientAddressOf, type RequestLabels } from '../http/request.ts'
import { routeOf } from '../http/routing.ts'
import { isJournal, withPriority } from './log-output.ts'

/** Milliseconds. */
const maxDelay = 10
/** Pino's number for the level. */
const warnLevel = 40

/** Fields of every line. */
const base = { pid: process.pid, host: hostname() }

export type Log = ReturnType<typeof logTo>

export interface RequestResult {
  /** Whether the response was sent completely. */
  isComplete: boolean
  milliseconds: number
}

/** What a log needs of `process.stdout` or `process.stderr`. */
type Output = Writable & Pick<WriteStream, 'isTTY' | 'hasColors'> & { fd?: number }

/** Logs in the format of LOG_FORMAT. By default, a terminal gets lines for a person, anything else JSON lines. */
export function createLog(config: Pick<Config, 'logLevel' | 'logFormat'>, output: Output): Log {
  const isPretty = (config.logFormat ?? (output.isTTY ? 'pretty' : 'json')) === 'pretty'
  return logTo(batching(output, isPretty ? prettyFormat(output) : undefined), config.logLevel)
}

const levelColors: Record<string, 'red' | 'yellow' | 'green'> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
}

/** Formats a JSON line as time, level, message and further fields, and below it the stack of an error. */
function prettyFormat(output: Output): (line: string) => string {
  const isColored = output.isTTY && output.hasColors()
  return (line) => {
    const { level, time, pid, host, msg, err, ...fields } = JSON.parse(line)
    const name = String(level).toUpperCase()
    const color = levelColors[level] ?? 'blue'
    const shown = isColored ? styleText(color, name, { validateStream: false }) : name
    const rest = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ''
    const stack = err === undefined ? '' : `    ${err.stack ?? err}\n`
    return `[${time}] ${shown}: ${msg}${rest}\n${stack}`
  }
}

/** Logs JSON lines, with times in ISO 8601 (UTC) and levels by name. */
export function logTo(destination: DestinationStream, level: Config['logLevel']) {
  const formatters = { level: (name: string) => ({ level: name }) }
  const serializers = { err: serializeError }
  const options = { level, base, formatters, serializers, timestamp: stdTimeFunctions.isoTime }
  const logger: Logger = pino(options, destination)
  const logsRequests = logger.isLevelEnabled('info')
  const mayLog = oncePerSecond()
  return Object.assign(logger, {
    /**
     * Logs a request after its response, or after its client has gone, but only one 5xx a second for each operation and
     * status. Headers, URLs and bodies are never logged.
     */
    request(request: FastifyRequest, reply: FastifyReply, labels: RequestLabels, result: RequestResult): void {
      if (!logsRequests) return
      const isFault = result.isComplete && reply.statusCode >= 500
      const others = isFault ? mayLog(`${labels.adapter} ${labels.operation} ${reply.statusCode}`) : 0
      if (others === undefined) return
      destination.write(`${JSON.stringify(requestLine(request, reply, labels, result, others || undefined))}\n`)
    },
  })
}

/** Joins lines, because each write is a system call, except warnings and errors. A kill loses those of {@link maxDelay}. */
function batching(output: Output, format: (line: string) => string = (line) => line) {
  const isInJournal = isJournal(output.fd, environment.JOURNAL_STREAM)
  let lines = ''
  function flush(): void {
    const batch = lines
    lines = ''
    if (batch !== '') output.write(batch)
  }
  output.on('error', () => {})
  // Before the listener that waits for a slow reader.
  process.prependListener('exit', flush)
  return {
    // Makes pino set `lastLevel` before each call of `write`.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      if (lines === '') setTimeout(flush, maxDelay)
      lines += isInJournal ? withPriority(this.lastLevel, format(line)) : format(line)
      if (this.lastLevel >= warnLevel) flush()
      this.lastLevel = 0
    },
    flush,
  }
}

/** Not written by pino, which joins it from so many strings that the garbage collector takes twice as long. */
function requestLine(
  request: FastifyRequest,
  reply: FastifyReply,
  { adapter, operation }: RequestLabels,
  { isComplete, milliseconds }: RequestResult,
  others: number | undefined,
) {
  return {
    level: 'info',
    time: new Date().toISOString(),
    ...base,
    requestId: request.id,
    traceId: request.span?.spanContext().traceId,
    adapter,
    operation,
    procedures: operation === 'batch' ? request.routeOptions.config.procedures?.(request) : undefined,
    method: request.method,
    route: routeOf(request),
    status: isComplete ? reply.statusCode : undefined,
    aborted: isComplete ? undefined : true,
    others,
    milliseconds: Math.round(milliseconds * 1000) / 1000,
    bytes: request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0),
    // As text, because many programs read a number of JSON as a double.
    ids: request.changedIds?.length ? request.changedIds.map(String) : undefined,
    replayed: request.replayed?.includes(true) || undefined,
    key: request.apiKey?.name,
    keyStart: request.apiKey?.start ?? request.rejection?.keyStart,
    reason: request.rejection?.reason,
    ip: clientAddressOf(request),
    msg: 'request',
  }
}

/** Errors of drivers have further properties, such as the values of a row in the `detail` of PostgreSQL. */
export function serializeError(error: unknown) {
  if (!(error instanceof Error)) return String(error)
  // Pino adds the stacks of the causes.
  const { type, stack } = stdSerializers.err(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type, message: error.message, ...(code !== undefined && { code }), stack }
}
