/** What the command line of an operator needs: inspection, migration, copies, and files that belong to the owner of the database. */
export { type CopyProgress, type CopyRequest, copyStore, type TableSummary } from './copy/copy-store.ts'
export type { Inspection, SchemaState, ServerState, TableContents } from './inspection/inspection.ts'
export type { Migration, PrepareOptions } from './migrations.ts'
export { inspect } from './open.ts'
export { publish, withCleanup } from './sqlite/backup/temporary-file.ts'
export { roomFor } from './sqlite/file/files.ts'
export { refuseMountedFile } from './sqlite/file/header.ts'
export { existingFolder, giveAway, type Ownership, ownershipOf } from './sqlite/file/ownership.ts'
