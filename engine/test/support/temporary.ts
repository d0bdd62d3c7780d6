import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Registers a cleanup for the end of the test or of the group. Cleanups run in reverse order. */
export type AtEnd = (clean: () => void | Promise<void>) => void

/** Creates a folder that is deleted when the test ends. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished, place = tmpdir()): string {
  const folder = mkdtempSync(join(place, 'tests-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
