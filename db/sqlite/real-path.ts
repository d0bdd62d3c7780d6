import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute } from 'node:path'
import { toFailure } from './failure.ts'

/**
 * The path without symbolic links, also where the file, its folder or the target of a link does not exist yet. SQLite
 * names the log and the journal after this path.
 *
 * @throws the error of the file system, such as ELOOP or EACCES.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (toFailure(error).code !== 'ENOENT') throw error
  }
  // Not normalised: in `link/../file`, the two dots are the parent of the link's target.
  const target = targetOf(path)
  if (target === undefined) return `${realPathOf(dirname(path))}/${basename(path)}`
  return realPathOf(isAbsolute(target) ? target : `${dirname(path)}/${target}`)
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (/^(ENOENT|EINVAL)$/.test(toFailure(error).code)) return undefined
    throw error
  }
}
