import { isBusy, toFailure } from './failure.ts'

const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Tries again each millisecond while another process holds the lock. SQLite's own busy timeout comes back only up to ten
 * times a second, too seldom to find the short gaps that a process which writes all the time leaves.
 *
 * @param milliseconds after which the error of the last attempt is thrown; the thread does nothing else meanwhile
 */
export function patiently<T>(milliseconds: number, attempt: () => T): T {
  const deadline = performance.now() + milliseconds
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(toFailure(error)) || performance.now() >= deadline) throw error
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}
