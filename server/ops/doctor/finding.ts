import { systemMessage } from '../operator-error.ts'

/** What a check says. */
export interface Verdict {
  status: 'ok' | 'warning' | 'failure'
  /** What was found, and what to do unless the status is `ok`. One line. */
  message: string
}

export interface Finding extends Verdict {
  check: string
}

export function ok(message: string): Verdict {
  return { status: 'ok', message }
}

export function warning(message: string): Verdict {
  return { status: 'warning', message }
}

export function failure(message: string): Verdict {
  return { status: 'failure', message }
}

export function finding(check: string, verdict: Verdict): Finding {
  return { check, ...verdict }
}

/** Runs a check. An error becomes a failure, so that the other checks still run. */
export async function runCheck(check: string, run: () => Verdict | Promise<Verdict>): Promise<Finding> {
  try {
    return finding(check, await run())
  } catch (error) {
    return finding(check, failure(describeError(error)))
  }
}

/** A sentence for the operator. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const message = systemMessage(error)
  if (message === undefined || !('path' in error)) return error.message
  return `${error.path} cannot be read: ${message}. Check the path and its permissions, or run this as the user of the service.`
}
