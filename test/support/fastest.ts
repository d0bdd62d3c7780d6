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
