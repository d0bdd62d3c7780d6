import { StoreUnavailable, tooManyWrites, type WriteFailure } from '../../store.ts'

/** Why a write is rejected. */
export interface Refusal {
  reason: WriteFailure
  error: Error
}

/** What the writer finds out without a reply of its thread. */
export const refusals = {
  closed: (): Refusal => ({
    reason: 'other',
    error: new StoreUnavailable('The database is closed, because the process is stopping.'),
  }),
  diskHangs: (): Refusal => ({
    reason: 'hanging',
    error: new StoreUnavailable('The disk does not respond. Check it, and thaw its file system if it is frozen.'),
  }),
  tooMany: (): Refusal => ({ reason: 'queue_full', error: new StoreUnavailable(tooManyWrites) }),
  threadEnded: (cause: unknown): Refusal => ({
    reason: 'other',
    error: new StoreUnavailable(
      'The writer thread ended, or could not be started. The next write starts it again. Check the memory, and the limits of threads and open files.',
      { cause },
    ),
  }),
}
