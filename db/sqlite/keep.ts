import { constants, copyFileSync, existsSync, linkSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { toFailure } from './failure.ts'
import { cannotLink } from './in-use.ts'
import { syncFolder } from './partial.ts'

/**
 * Gives a database a second name, together with the log it may have, then takes the log away from the first name: beside
 * another database it would destroy that. At each moment the whole is there under one name at least.
 *
 * @returns whether there was anything to keep.
 */
export function keepBeside(path: string, kept: string): boolean {
  const present = ['', '-wal', '-journal'].filter((suffix) => existsSync(path + suffix))
  for (const suffix of present) duplicate(path + suffix, kept + suffix)
  syncFolder(dirname(path))
  for (const suffix of ['-wal', '-journal', '-shm']) rmSync(path + suffix, { force: true })
  syncFolder(dirname(path))
  return present.length > 0
}

function duplicate(path: string, name: string): void {
  try {
    linkSync(path, name)
  } catch (error) {
    if (!cannotLink(toFailure(error).code)) throw error
    copyFileSync(path, name, constants.COPYFILE_EXCL)
  }
}
