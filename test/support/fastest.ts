/** Milliseconds of the fastest of several runs, which other work on the machine has slowed down least. */
export async function fastest(run: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 10; i++) {
    const begin = performance.now()
    await run()
    best = Math.min(best, performance.now() - begin)
  }
  return best
}

/** Milliseconds of CPU time of a run on average. Unlike wall time, other programs hardly change it. */
export function cpuTimeOf(run: () => unknown): number {
  const begin = process.threadCpuUsage()
  let [runs, total] = [0, 0]
  // Linux counts CPU time in steps of 4 ms.
  while (total < 50 && runs < 2_000) {
    run()
    runs++
    const { user, system } = process.threadCpuUsage(begin)
    total = (user + system) / 1_000
  }
  return total / runs
}
