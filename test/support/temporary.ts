import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Takes what is to be done when the test, or the group of tests, ends: the last first. */
export type AtEnd = (clean: () => void | Promise<void>) => void

/** A folder of the test's own, gone when the test ends. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
