import { OperatorError, systemMessage } from '../operator-error.ts'

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
