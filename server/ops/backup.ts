import { accessSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { backUpDatabase } from '../../db/sqlite/backup/backup.ts'
import { attempt, CopyFailed } from '../../db/sqlite/backup/copy-failure.ts'
import type { OnProgress } from '../../db/sqlite/backup/partial.ts'
import { restoreDatabase } from '../../db/sqlite/backup/restore.ts'
import { makeFolder } from '../../db/sqlite/files.ts'
import { newBackupPath, stampOf } from './backup-name.ts'
import { OperatorError } from './operator-error.ts'

/**
 * @param file is where the backup goes; without it, `backups/` beside the database, under the name of the time.
 * @returns the backup's absolute path.
 */
export async function backUp(database: string, file?: string, onProgress?: OnProgress): Promise<string> {
  const backup = file === undefined ? newBackupPath(database, '.db') : pathOf(file)
  try {
    attempt('source', () => accessSync(database))
    if (file === undefined) attempt('target', () => makeFolder(dirname(backup)))
    await backUpDatabase(database, backup, onProgress)
  } catch (error) {
    throw explain(error, {
      source: `The database ${database} cannot be backed up`,
      target: `The backup ${backup} cannot be made`,
    })
  }
  return backup
}

/** @returns what was done, in a sentence. */
export async function restore(database: string, file: string, onProgress?: OnProgress): Promise<string> {
  const backup = pathOf(file)
  try {
    const kept = await restoreDatabase({ file: backup, database, stamp: stampOf(new Date()), onProgress })
    return `Restored ${database} from ${backup}${kept ? `; what was there before is now ${kept}` : ''}.`
  } catch (error) {
    throw explain(error, {
      source: `The backup ${backup} cannot be restored`,
      target: `The database ${database} cannot be replaced`,
    })
  }
}

/** An empty argument, as of a variable that is not set, would name the working folder. */
function pathOf(argument: string): string {
  if (argument === '') throw new OperatorError('The name of the backup is empty.')
  return resolve(argument)
}

function explain(error: unknown, subject: Record<CopyFailed['at'], string>): unknown {
  return error instanceof CopyFailed
    ? new OperatorError(`${subject[error.at]}: ${error.message}.`, { cause: error })
    : error
}
