import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { link } from '../files.ts'
import { attempt, CopyFailed } from './copy-failure.ts'
import { type OnProgress, withPartialCopy } from './partial.ts'

/**
 * Backs up a database, which may be in use, into a new file of mode 600. Whatever was committed before the call is in it.
 *
 * @param file is never overwritten; its folder must exist.
 * @throws {CopyFailed}
 */
export async function backUpDatabase(database: string, file: string, onProgress?: OnProgress): Promise<void> {
  const folder = dirname(file)
  if (!existsSync(folder)) throw new CopyFailed('target', 'its folder does not exist; make it first')
  refuseExisting(file)
  await withPartialCopy({ source: database, isSourceReadonly: false, folder, onProgress }, (partial) => {
    refuseExisting(file)
    // Unlike a rename, a link does not overwrite what another process may have put there just now.
    attempt('target', () => link(partial, file, () => renameSync(partial, file)))
  })
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new CopyFailed('target', 'it exists already; name another file, or delete it first')
}
