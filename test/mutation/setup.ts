import { beforeAll } from 'vitest'

/** Passes the id of the active mutant to the threads that a test starts. */
beforeAll(() => {
  // Stryker defines this global in every test process.
  const stryker = (globalThis as { __stryker__?: { activeMutant?: string } }).__stryker__
  if (stryker?.activeMutant !== undefined) process.env.__STRYKER_ACTIVE_MUTANT__ = stryker.activeMutant
})
