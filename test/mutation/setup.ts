import { beforeAll } from 'vitest'

/** Hands the mutant under test on to the threads that a test starts. */
beforeAll(() => {
  const stryker = (globalThis as { __stryker__?: { activeMutant?: string } }).__stryker__
  if (stryker?.activeMutant !== undefined) process.env.__STRYKER_ACTIVE_MUTANT__ = stryker.activeMutant
})
