import { getSystemErrorMessage } from 'node:util'

/** The result of one check. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'failure'
  /** What was found, and what to do unless the status is `ok`. One line. */
  message: string
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message }
}

export function warning(check: string, message: string): Finding {
  return { check, status: 'warning', message }
}

export function failure(check: string, message: string): Finding {
  return { check, status: 'failure', message }
}

/** Runs a check. An error becomes a failure, so that the other checks still run. */
export async function runCheck(check: string, run: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    return failure(check, describeError(error))
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!('path' in error && 'errno' in error && typeof error.errno === 'number')) return error.message
  return `${error.path} cannot be read: ${getSystemErrorMessage(error.errno)}. Check the path and its permissions, or run this as the user of the service.`
}
