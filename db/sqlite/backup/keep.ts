import { constants, copyFileSync, existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { link, syncFolder } from '../files.ts'

/**
 * Gives a database a second name, together with the log it may have, then takes the log away from the first name: beside
 * another database it would destroy that. At each moment the whole is there under one name at least.
 *
 * @returns whether there was anything to keep.
 */
export function keepBeside(path: string, kept: string): boolean {
  const present = ['', '-wal', '-journal'].filter((suffix) => existsSync(path + suffix))
  for (const suffix of present) {
    const [from, to] = [path + suffix, kept + suffix]
    link(from, to, () => copyFileSync(from, to, constants.COPYFILE_EXCL))
  }
  syncFolder(dirname(path))
  for (const suffix of ['-wal', '-journal', '-shm']) rmSync(path + suffix, { force: true })
  syncFolder(dirname(path))
  return present.length > 0
}
