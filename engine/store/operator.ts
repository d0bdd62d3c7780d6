/** What the command line of an operator needs: inspection, copies, backups, and files of the owner of the database. */
export { type CopyProgress, copyStore, type TableSummary } from './copy/copy-store.ts'
export type { MigrateOptions, Migration } from './database/migrations.ts'
export type { SchemaState, TableContents } from './inspection/inspection.ts'
export type { ServerState } from './inspection/postgres.ts'
export { type Inspection, inspect } from './open.ts'
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
export { realPathOf, roomFor } from './sqlite/file/files.ts'
export { refuseCopyWithoutLog, refuseMountedFile } from './sqlite/file/header.ts'
export { existingFolder, giveAway, type Ownership, ownershipOf } from './sqlite/file/ownership.ts'
export { publish, withCleanup } from './sqlite/file/temporary-file.ts'
export { describeRescuedCopies } from './sqlite/rescue/rescued-copies.ts'
