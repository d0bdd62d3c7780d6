import { unusable } from '../failure.ts'

/** A copy that could not be made; the message says why and what to do, in a clause without a full stop. */
export class CopyFailed extends Error {
  override name = 'CopyFailed'
  readonly at: 'source' | 'target'

  constructor(at: CopyFailed['at'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.at = at
  }
}

/** Runs one step of a copy; whatever it throws becomes a {@link CopyFailed}. */
export function attempt<T>(at: CopyFailed['at'], step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw copyFailure(at, error)
  }
}

/**
 * Puts what was thrown into words.
 *
 * @throws what is no trouble of files or databases, and so a fault of ours.
 */
export function copyFailure(at: CopyFailed['at'], error: unknown): CopyFailed {
  return error instanceof CopyFailed ? error : new CopyFailed(at, unusable('', error).reason, { cause: error })
}
