/** Backups of an SQLite file that is open, and their way back. */
export { backUpDatabase, createBackupFolder, streamBackup } from './sqlite/backup/backup.ts'
export {
  type Backup,
  backupFolder,
  listBackups,
  measureBackups,
  newBackupPath,
  scheduledEnding,
} from './sqlite/backup/inventory.ts'
export { restoreDatabase } from './sqlite/backup/restore.ts'
export type { Progress } from './sqlite/backup/snapshot.ts'
export { checksumOf, verifyBackup } from './sqlite/file/checksum.ts'
export { refuseCopyWithoutLog } from './sqlite/file/header.ts'
