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

/** Runs the work. An error of the file system becomes an {@link OperatorError} that names the file. */
export async function withFileErrors<T>(name: string, verb: 'read' | 'written', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const message = systemMessage(error)
    if (message === undefined) throw error
    throw new OperatorError(`${name} cannot be ${verb}: ${message}. Check the path, its permissions and the disk.`, {
      cause: error,
    })
  }
}
