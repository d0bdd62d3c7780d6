import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describeLocation, type Location, type StoreDefinition } from '#store'
import {
  backupFolder,
  describeRescuedCopies,
  existingFolder,
  type Inspection,
  inspect,
  listBackups,
  measureBackups,
  realPathOf,
  refuseMountedFile,
  roomFor,
  type SchemaState,
  type ServerState,
} from '#store/operator'
import type { Config } from '../config.ts'
import { count, describeDuration, describeSize } from '../operator/format.ts'
import { systemMessage } from '../operator/operator-error.ts'

/** PostgreSQL's developers correct faults of each major version for five years: 15 is the oldest that they support. */
const minPostgresVersion = 15
/** Milliseconds. One missed nightly backup is no warning yet. */
const maxBackupAge = 2 * 86_400_000
/** Bytes. SQLite needs room for its log, which is truncated to 64 MiB. */
const minFreeSpace = 64 * 1024 * 1024

/** The message, of one line, says what was found, and what to do unless the status is `ok`. */
type Verdict = [status: 'ok' | 'warning' | 'failure', message: string]
export type Finding = ReturnType<typeof finding>

export function finding(check: string, ...[status, message]: Verdict) {
  return { check, status, message }
}

export interface DoctorTarget extends Pick<Config, 'database' | 'backupEvery'> {
  command: string
  definition: StoreDefinition
}

/** Examines a service and its files, also while it runs, and changes nothing. Without a target, the configuration is wrong. */
export async function examine(configuration: Finding[], target: DoctorTarget | undefined): Promise<Finding[]> {
  const node = finding('node', 'ok', `Node ${process.version} on ${process.platform} ${process.arch}.`)
  if (!target) return [node, ...configuration]
  const { command, definition, database, backupEvery } = target
  const contents = await examineDatabase(command, definition, database)
  // The file may belong to another program, whose permissions are its own.
  const isOwn = contents.every(({ check, status }) => check !== 'database' || status !== 'failure')
  return [
    node,
    ...configuration,
    ...contents,
    ...(database.kind === 'sqlite' ? await examineFiles(command, database.path, isOwn, backupEvery) : []),
  ]
}

/** Runs a check. An error becomes a failure, so that the other checks still run. */
async function runCheck(check: string, run: () => Verdict | Promise<Verdict>): Promise<Finding> {
  try {
    return finding(check, ...(await run()))
  } catch (error) {
    return finding(check, 'failure', describeError(error))
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const message = systemMessage(error)
  if (message === undefined || !('path' in error)) return error.message
  return `${error.path} cannot be read: ${message}. Check the path and its permissions, or run this as the user of the service.`
}

/** Opens the database, and examines its schema, and the pages of SQLite or the server of PostgreSQL. */
async function examineDatabase(command: string, definition: StoreDefinition, location: Location): Promise<Finding[]> {
  const name = describeLocation(location)
  let inspection: Inspection | undefined
  try {
    inspection = await inspect(definition, location)
  } catch (error) {
    return [finding('database', 'failure', describeError(error))]
  }
  if (!inspection) {
    const missing = `There is no database at ${name} yet. The first start creates it; check DATABASE_URL if there should be one.`
    return [finding('database', 'warning', missing)]
  }
  const { schema, close } = inspection
  try {
    return [
      finding('database', 'ok', `${name} can be opened.`),
      await runCheck('schema', async () => judgeSchema(command, await schema())),
      await examinePagesOrServer(inspection),
    ]
  } finally {
    await close()
  }
}

function judgeSchema(command: string, { applied, pending, problem }: SchemaState): Verdict {
  if (problem !== undefined) return ['failure', `This release cannot use the schema: ${problem}.`]
  const newest = applied.at(-1)
  if (newest === undefined) return ['warning', 'There are no tables yet. The first start creates them.']
  if (pending.length === 0) return ['ok', `${newest}, which is current.`]
  const waiting = `${count(pending.length, 'migration')} ${pending.length === 1 ? 'is' : 'are'}`
  return [
    'warning',
    `${newest}, and ${waiting} pending. Back up the database; the next start applies them, or ${command} db migrate.`,
  ]
}

function examinePagesOrServer(inspection: Inspection): Promise<Finding> {
  if (inspection.kind === 'postgres') return runCheck('server', async () => judgeServer(await inspection.server()))
  return runCheck('integrity', async () => {
    await inspection.checkPages()
    return ['ok', `PRAGMA quick_check finds no damage (${describeSize((await inspection.bytes()).database)}).`]
  })
}

function judgeServer({ version, encoding, isReadOnly }: ServerState): Verdict {
  if (encoding !== 'UTF8')
    return ['failure', `The encoding ${encoding} cannot store every name. Make another database with ENCODING 'UTF8'.`]
  if (isReadOnly)
    return [
      'failure',
      `PostgreSQL ${version} accepts no writes: turn off default_transaction_read_only, or correct the address.`,
    ]
  if (Number.parseInt(version, 10) >= minPostgresVersion) return ['ok', `PostgreSQL ${version}.`]
  return ['warning', `PostgreSQL ${version} is no longer maintained. Use ${minPostgresVersion} or newer.`]
}

/** @param isOwn whether the file is no database of another program. */
async function examineFiles(command: string, path: string, isOwn: boolean, backupEvery: number | undefined) {
  const folder = existingFolder(realPath(path))
  // The check of the database reports it.
  if (!statSync(folder).isDirectory()) return []
  const rescued = describeRescuedCopies(path, command)
  return [
    await runCheck('permissions', () => checkPermissions(path, folder, isOwn)),
    await runCheck('disk space', () => checkSpace(folder)),
    await runCheck('backups', () => checkBackups(path, backupEvery)),
    ...(rescued === undefined ? [] : [finding('rescued copies', 'warning', rescued)]),
  ]
}

function checkPermissions(path: string, folder: string, isOwn: boolean): Verdict {
  const file = realPath(path)
  refuseMountedFile(path, file)
  const existing = ['', '-wal', '-shm'].map((suffix) => file + suffix).filter((name) => existsSync(name))
  const problem =
    accessProblem(folder, constants.R_OK | constants.W_OK | constants.X_OK) ??
    existing.map((name) => accessProblem(name, constants.R_OK | constants.W_OK)).find((text) => text !== undefined)
  if (problem !== undefined) return ['failure', problem]
  const open = isOwn ? openToOthers([...existing, ...backupsOf(path)]) : undefined
  if (open) return open
  const note =
    process.getuid?.() === 0 ? ' This is root, who may write everywhere: run it as the user of the service.' : ''
  return ['ok', `This user may write to ${folder}.${note}`]
}

/** Names the files that users other than the owner and the group may use, if there are any. */
function openToOthers(files: string[]): Verdict | undefined {
  const modes = files.map((file) => ({ file, mode: statSync(file).mode }))
  const open = modes.filter(({ mode }) => mode & 0o006)
  if (open.length === 0) return undefined
  const [status, right] = open.some(({ mode }) => mode & 0o002)
    ? (['failure', 'write'] as const)
    : (['warning', 'read'] as const)
  const names = open.map(({ file }) => file).join(' ')
  return [status, `The permissions of files with data or keys let every user ${right} them. Run: chmod o-rwx ${names}`]
}

function backupsOf(database: string): string[] {
  const folder = backupFolder(database)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(database)}-`))
    .map((name) => join(folder, name))
}

function accessProblem(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS'
    return isReadOnly
      ? `${path} is on a file system that is mounted read-only. Mount it for writing, or change DATABASE_URL.`
      : `This user may not read and write ${path}. Change its owner or its permissions.`
  }
}

function checkSpace(folder: string): Verdict {
  const { bytes, files } = roomFor(folder)
  const message =
    bytes < Infinity ? `${describeSize(bytes)} are free in ${folder}.` : `The size of ${folder} has no limit.`
  if (bytes < minFreeSpace) return ['failure', `${message} Free some space: writes fail when the disk is full.`]
  if (files === 0) return ['failure', `No file can be created in ${folder}. Delete some files.`]
  return ['ok', message]
}

/** @param interval between backups in milliseconds; undefined if none are scheduled. */
async function checkBackups(path: string, interval: number | undefined): Promise<Verdict> {
  const now = Date.now()
  if (interval === undefined) {
    const { newestAt } = await measureBackups(path)
    const remedy = 'Set BACKUP_EVERY, or start a timer, unless you back up without the command backup.'
    if (!newestAt) return ['warning', `The command backup has made no backup. ${remedy}`]
    const age = now - newestAt.getTime()
    const message = `The newest backup is ${describeDuration(age)} old, and BACKUP_EVERY is not set.`
    return age <= maxBackupAge ? ['ok', message] : ['warning', `${message} ${remedy}`]
  }
  const newest = (await listBackups(path)).find(({ time, isScheduled }) => isScheduled && time <= now)
  if (!newest)
    return ['warning', 'There is no scheduled backup yet. Start the service, and look for "backup failed" in its log.']
  const age = now - newest.time
  const message = `The newest scheduled backup is ${describeDuration(age)} old, and BACKUP_EVERY is ${describeDuration(interval)}.`
  if (age <= 2 * interval) return ['ok', message]
  return ['failure', `${message} Check that the service runs, and look for "backup failed" in its log.`]
}

/** The path itself if its links cannot be followed, which the check of the database reports. */
function realPath(path: string): string {
  try {
    return realPathOf(path)
  } catch {
    return path
  }
}
