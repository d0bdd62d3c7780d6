import { type Logger, type LoggerOptions, stdSerializers } from 'pino'

/** Milliseconds. */
const interval = 60_000
/** Different errors that are counted at a time. It bounds the memory, and the lines while messages differ each time. */
const maxErrors = 100

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

interface RepeatedError {
  /** How often it occurred since its last line. */
  repeats: number
  /** Writes the line with the number. */
  report: () => void
  timer: NodeJS.Timeout
}

/**
 * Limits the stacks in the log. An error is logged with its stack when it occurs first. If the same error occurs again, it
 * is only counted, and one line in each minute has the number of repetitions. An error that did not occur for a minute
 * counts as new.
 */
export class RepeatedErrors {
  readonly #root: () => Logger
  readonly #errors = new Map<string, RepeatedError>()

  /** @param root writes the lines with the numbers, which belong to no request. */
  constructor(root: () => Logger) {
    this.#root = root
  }

  /** The hook of pino. Lines without `err` are not changed. */
  hook(): LogMethod {
    const errors = this
    return function logMethod(args, method) {
      const [fields, message] = args as [unknown, string | undefined]
      const error = errorIn(fields)
      const isNew = error === undefined || errors.#add(`${message}\n${error}`, message ?? error, method)
      if (isNew) method.apply(this, args)
    }
  }

  /** Writes the numbers that no line has yet. */
  report(): void {
    for (const error of this.#errors.values()) error.report()
  }

  #add(key: string, message: string, method: Parameters<LogMethod>[1]): boolean {
    const known = this.#errors.get(key)
    if (known) {
      known.repeats++
      return false
    }
    if (this.#errors.size >= maxErrors && key !== otherErrors) return this.#add(otherErrors, otherErrors, method)
    const report = () => {
      if (error.repeats > 0) method.apply(this.#root(), [{ repeats: error.repeats }, message])
      error.repeats = 0
    }
    const timer = setInterval(() => {
      if (error.repeats === 0) this.#forget(key)
      report()
    }, interval).unref()
    const error: RepeatedError = { repeats: 0, report, timer }
    this.#errors.set(key, error)
    return true
  }

  #forget(key: string): void {
    clearInterval(this.#errors.get(key)?.timer)
    this.#errors.delete(key)
  }
}

/** The message about the errors beyond {@link maxErrors}. */
const otherErrors = 'Too many different errors occurred to count each of them.'

function errorIn(fields: unknown): string | undefined {
  return typeof fields === 'object' && fields !== null && 'err' in fields ? String(fields.err) : undefined
}

/**
 * What the log shows of an error. Errors of drivers have further properties, such as the values of a row in the `detail` of
 * PostgreSQL.
 */
export function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  // Pino adds the stacks of the causes.
  const { type, stack } = stdSerializers.err(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type, message: error.message, ...(code !== undefined && { code }), stack }
}
