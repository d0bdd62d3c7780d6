import { getSystemErrorMessage } from 'node:util'

/** An error that the operator can correct. The message states the problem and the solution in full sentences. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** An argument or an option of a command is wrong. The exit code is 2. */
export class UsageError extends OperatorError {
  override name = 'UsageError'
}

/** What the system says about a failure, such as `permission denied`. Undefined for an error of another kind. */
export function systemMessage(error: unknown): string | undefined {
  const errno = error instanceof Error && 'errno' in error ? error.errno : undefined
  return typeof errno === 'number' ? getSystemErrorMessage(errno) : undefined
}
