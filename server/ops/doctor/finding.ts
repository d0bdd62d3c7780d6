import { UnusableDatabase } from '../../../db/unusable-database.ts'

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

/** Runs a check. A database that cannot be used becomes a failure. */
export async function attempt(check: string, run: () => Promise<Finding>): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof UnusableDatabase) return failure(check, error.message)
    throw error
  }
}
