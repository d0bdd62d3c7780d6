import { isTransient, problemOf, retryDelayAfter } from '../problem.ts'

/** Why the calls of a job wait at the moment. */
export interface Pause {
  message: string
  /** When the job tries again, in milliseconds since the epoch. */
  until: number
}

export interface RetryOptions {
  signal: AbortSignal
  /** Called with each pause, and with undefined as soon as a call succeeds again. */
  onPause: (pause: Pause | undefined) => void
}

/**
 * Makes a function that repeats a call until it succeeds, fails for good, or the signal aborts. All calls of a job share
 * a pause, so that a service that is away or rejects too many requests is not asked by each of them.
 */
export function retryWhileAway({ signal, onPause }: RetryOptions): <T>(call: () => Promise<T>) => Promise<T> {
  let failures = 0
  let pause: Promise<void> | undefined

  async function waitAfter(error: unknown): Promise<void> {
    const problem = problemOf(error)
    const delay = retryDelayAfter(failures, problem)
    failures++
    onPause({ message: problem.message, until: Date.now() + delay })
    await sleep(delay, signal)
    pause = undefined
  }

  return async (call) => {
    for (;;) {
      await pause
      signal.throwIfAborted()
      try {
        const result = await call()
        if (failures > 0 && !pause) {
          failures = 0
          onPause(undefined)
        }
        return result
      } catch (error) {
        if (signal.aborted || !isTransient(problemOf(error))) throw error
        pause ??= waitAfter(error)
      }
    }
  }
}

/** Also ends when the signal aborts. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  signal.addEventListener('abort', () => resolve())
  return promise.finally(() => clearTimeout(timer))
}
