import { inspect } from '../../../db/inspect.ts'
import type { Inspection } from '../../../db/inspection.ts'
import { describeLocation, type Location } from '../../../db/location.ts'
import { UnusableDatabase } from '../../../db/unusable-database.ts'
import { alignColumns } from '../table.ts'
import { checkBackups, newestBackup } from './backups.ts'
import { checkIntegrity, checkSchema, checkServer, checkWritable, databaseMissing } from './database.ts'
import { checkFileSystem, checkKeyFile, checkLog, checkPermissions, checkSpace } from './files.ts'
import { type Finding, failure, ok, runCheck } from './finding.ts'
import { checkClock, checkDescriptors, checkNode, type KnownTime, type Machine, thisMachine } from './machine.ts'
import { checkPort, type PortToCheck } from './port.ts'

/** What to examine: parts of the configuration. */
export interface Service {
  database: Location
  databaseConnections: number
  /** Milliseconds. */
  backupEvery: number | undefined
  port: PortToCheck
  /** The file of PETSTORE_API_KEY_FILE. */
  apiKeyFile: string | undefined
}

/**
 * Examines a service and the machine it runs on. Changes nothing, and works while the service runs.
 *
 * @param configuration findings about the configuration, for their place in the list.
 * @param service undefined if the configuration is wrong.
 */
export async function examine(
  configuration: Finding[],
  service: Service | undefined,
  machine: Machine = thisMachine(),
): Promise<Finding[]> {
  return [
    checkNode(),
    checkDescriptors(machine),
    ...configuration,
    ...(service ? await examineService(service, machine) : []),
  ]
}

async function examineService(service: Service, machine: Machine): Promise<Finding[]> {
  const { apiKeyFile, port } = service
  return [
    ...(apiKeyFile === undefined ? [] : [await runCheck('key file', () => checkKeyFile(apiKeyFile))]),
    ...(await examineDatabase(service, machine)),
    ...(await checkPort(port)),
  ]
}

async function examineDatabase(service: Service, machine: Machine): Promise<Finding[]> {
  const { database } = service
  // First, because the other checks would hang with the disk.
  const writable = database.kind === 'sqlite' ? await checkWritable(database.path) : undefined
  if (writable?.isHanging) return [writable.finding]
  const opened = await open(database)
  try {
    const { inspection } = opened
    const contents = inspection ? await examineContents(inspection, service) : []
    const times = inspection ? await knownTimesIn(inspection) : []
    const beside =
      database.kind === 'sqlite' ? await examineFiles(database.path, service, machine) : { findings: [], times: [] }
    // If the database cannot be opened, both have the same cause.
    const writes = writable && inspection ? [writable.finding] : []
    return [
      opened.finding,
      ...contents,
      ...writes,
      ...beside.findings,
      checkClock(machine, [...times, ...beside.times]),
    ]
  } finally {
    await opened.inspection?.close()
  }
}

async function open(database: Location): Promise<{ inspection?: Inspection | undefined; finding: Finding }> {
  try {
    const inspection = await inspect(database)
    return {
      inspection,
      finding: inspection ? ok('database', `${describeLocation(database)} can be opened.`) : databaseMissing(database),
    }
  } catch (error) {
    if (!(error instanceof UnusableDatabase)) throw error
    return { finding: failure('database', error.message) }
  }
}

async function examineContents(inspection: Inspection, { databaseConnections }: Service): Promise<Finding[]> {
  // One connection more listens for changes of API keys.
  const further =
    inspection.kind === 'sqlite'
      ? [await checkIntegrity(inspection)]
      : await checkServer(inspection, databaseConnections + 1)
  return [await checkSchema(inspection), ...further]
}

async function knownTimesIn(inspection: Inspection): Promise<KnownTime[]> {
  try {
    const { applied } = await inspection.schema()
    const stored = applied.length > 0 ? await inspection.newestTime() : undefined
    return [
      ...(stored ? [{ name: 'the database', time: stored }] : []),
      ...(inspection.kind === 'postgres'
        ? [{ name: 'the database server', time: (await inspection.server()).time }]
        : []),
    ]
  } catch {
    // Another check reports it.
    return []
  }
}

async function examineFiles(path: string, { backupEvery }: Service, machine: Machine) {
  return {
    findings: [
      await runCheck('permissions', () => checkPermissions(path)),
      await runCheck('disk space', () => checkSpace(path)),
      await runCheck('file system', () => checkFileSystem(path, machine)),
      await runCheck('write-ahead log', () => checkLog(path)),
      await runCheck('backups', () => checkBackups(path, backupEvery, machine.now)),
    ],
    times: newestBackup(path),
  }
}

/** One line for each check. */
export function describeFindings(findings: Finding[]): string {
  return alignColumns(findings.map(({ status, check, message }) => [status, check, message]))
}
