import { getSystemErrorMessage } from 'node:util'
import { OperatorError } from '../operator-error.ts'

/** Runs the work. An error of the file system becomes an {@link OperatorError} that names the file. */
export async function withFileErrors<T>(name: string, verb: 'read' | 'written', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number')) throw error
    throw new OperatorError(
      `${name} cannot be ${verb}: ${getSystemErrorMessage(error.errno)}. Check the path, its permissions and the disk.`,
      { cause: error },
    )
  }
}
