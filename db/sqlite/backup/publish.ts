import { existsSync, renameSync } from 'node:fs'
import { toFailure } from '../file/failure.ts'
import { link } from '../file/files.ts'

/**
 * Gives a finished file its name, unless a file has it: unlike a rename, a link never overwrites. The caller removes the
 * old name.
 *
 * @returns whether the file has the name.
 */
export function publish(path: string, name: string): boolean {
  if (existsSync(name)) return false
  try {
    link(path, name, () => renameSync(path, name))
    return true
  } catch (error) {
    if (toFailure(error).code === 'EEXIST') return false
    throw error
  }
}
