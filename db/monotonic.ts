/**
 * Milliseconds of a clock that only goes forward and is the same in all threads of the process. `performance.now()` starts
 * at 0 in each thread.
 */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
