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

/**
 * Milliseconds of CPU time of two functions, on average over the runs of their fastest turns. Other programs hardly
 * change CPU time, but the speed of a shared processor does, within a second: so they take turns.
 */
export function cpuTimesOf(first: () => unknown, second: () => unknown): [number, number] {
  const turns = Array.from({ length: 3 }, () => [cpuTimeOf(first), cpuTimeOf(second)] as const)
  return [Math.min(...turns.map(([time]) => time)), Math.min(...turns.map(([, time]) => time))]
}

function cpuTimeOf(run: () => unknown): number {
  const begin = process.threadCpuUsage()
  let [runs, total] = [0, 0]
  // Linux counts CPU time in steps of 4 ms.
  while (total < 20 && runs < 1_000) {
    run()
    runs++
    const { user, system } = process.threadCpuUsage(begin)
    total = (user + system) / 1_000
  }
  return total / runs
}
