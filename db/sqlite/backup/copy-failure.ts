import { getSystemErrorMessage } from 'node:util'
import { UnusableDatabase } from '../../store.ts'
import { isBusy, isCorrupt, toFailure } from '../failure.ts'

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
  return error instanceof CopyFailed ? error : new CopyFailed(at, reason(error), { cause: error })
}

export const corrupt = 'it is corrupt; restore an earlier backup'

function reason(error: unknown): string {
  if (error instanceof UnusableDatabase) return error.message
  const failure = toFailure(error)
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(failure.code)) return 'the disk is full; free some space'
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') {
    return `${getSystemErrorMessage(error.errno)}; check the path and its permissions`
  }
  if (isBusy(failure)) return 'another process holds its lock; try again when that has ended'
  if (isCorrupt(failure)) return corrupt
  if (failure.code.startsWith('SQLITE_')) return `${failure.message}; check the disk and the permissions`
  throw error
}
