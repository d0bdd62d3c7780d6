import { type Logger, type LoggerOptions, stdSerializers } from 'pino'

/** Milliseconds. */
const interval = 60_000
/** Different errors that are counted at a time. It bounds the memory, and the lines while messages differ each time. */
const maxErrors = 100

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

interface RepeatedError {
  /** How often it occurred since its last line. */
  repeats: number
  latest: unknown
  /** Writes the line with the number. */
  report: () => void
}

/**
 * Limits the stacks in the log. An error is logged when it occurs first. If the same error occurs again, it is only counted,
 * and one line in each minute has the last one with the number of repetitions. An error that did not occur for a minute
 * counts as new. Errors are the same if they have the same message and come from the same line of code.
 *
 * @param root writes the lines with the numbers, which belong to no request.
 */
export function repeatedErrors(root: () => Logger) {
  const errors = new Map<string, RepeatedError>()

  /** Returns whether the error is new. */
  function add(latest: unknown, message: string, method: Parameters<LogMethod>[1]): boolean {
    const key = message === otherErrors ? message : `${message}\n${latest}\n${originOf(latest)}`
    const known = errors.get(key)
    if (known) {
      known.repeats++
      known.latest = latest
      return false
    }
    if (errors.size >= maxErrors && message !== otherErrors) return add(latest, otherErrors, method)
    const report = () => {
      const { repeats, latest: err } = error
      if (repeats > 0) method.apply(root(), [{ err, repeats }, message])
      error.repeats = 0
    }
    const timer = setInterval(() => {
      if (error.repeats === 0) {
        clearInterval(timer)
        errors.delete(key)
      }
      report()
    }, interval).unref()
    const error: RepeatedError = { repeats: 0, latest, report }
    errors.set(key, error)
    return true
  }

  /** The hook of pino. Lines without `err` are not changed. */
  const hook: LogMethod = function logMethod(args, method) {
    const [fields, message] = args as [unknown, string | undefined]
    if (!hasError(fields) || add(fields.err, message ?? String(fields.err), method)) method.apply(this, args)
  }
  return {
    hook,
    /** Writes the numbers that no line has yet. */
    report(): void {
      for (const error of errors.values()) error.report()
    },
  }
}

/** The message about the errors beyond {@link maxErrors}. */
const otherErrors = 'Too many different errors occurred to count each of them.'

function hasError(fields: unknown): fields is { err: unknown } {
  return typeof fields === 'object' && fields !== null && 'err' in fields
}

/** The line of code that threw the error. */
function originOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
}

/**
 * What the log and the traces show of an error. Errors of drivers have further properties, such as the values of a row in
 * the `detail` of PostgreSQL.
 */
export function serializeError(error: unknown) {
  if (!(error instanceof Error)) return String(error)
  // Pino adds the stacks of the causes.
  const { type, stack } = stdSerializers.err(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type, message: error.message, ...(code !== undefined && { code }), stack }
}
