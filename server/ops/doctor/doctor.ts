import type { Location } from '../../../db/location.ts'
import type { ResourceList } from '../../../db/resource-list.ts'
import { listBackups } from '../../../db/sqlite/backup/inventory.ts'
import { alignColumns } from '../table.ts'
import { checkBackups, newestBackup } from './backups.ts'
import { checkWritable, examineContents, openDatabase } from './database.ts'
import { checkFileSystem, checkKeyFile, checkLog, checkPermissions, checkSpace } from './files.ts'
import { type Finding, finding, orNone, readOnce, runCheck } from './finding.ts'
import { checkClock, checkDescriptors, checkNode, type Machine, thisMachine } from './machine.ts'
import { checkPort, type PortToCheck } from './port.ts'

/** What to examine: the resources, and parts of the configuration. */
export interface Service {
  resources: ResourceList
  /** The title of its OpenAPI document. */
  title: string
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
    await runCheck('node', checkNode),
    await runCheck('descriptors', () => checkDescriptors(machine)),
    ...configuration,
    ...(service ? await examineService(service, machine) : []),
  ]
}

async function examineService(service: Service, machine: Machine): Promise<Finding[]> {
  const { apiKeyFile, port, title } = service
  return [
    ...(apiKeyFile === undefined ? [] : [await runCheck('key file', () => checkKeyFile(apiKeyFile))]),
    ...(await examineDatabase(service, machine)),
    ...(await checkPort(port, title)),
  ]
}

async function examineDatabase(service: Service, machine: Machine): Promise<Finding[]> {
  const { resources, database, databaseConnections } = service
  // First, because the other checks would hang with the disk.
  const writable = database.kind === 'sqlite' ? await checkWritable(database.path) : undefined
  if (writable?.isHanging) return [writable.finding]
  const { inspection, verdict } = await openDatabase(resources, database)
  try {
    // One connection more listens for changes of API keys.
    const contents = inspection && (await examineContents(inspection, databaseConnections + 1))
    const files = database.kind === 'sqlite' ? await examineFiles(database.path, service, machine) : undefined
    const times = [...(contents?.times ?? []), ...(files?.times ?? [])]
    return [
      finding('database', verdict),
      ...(contents?.findings ?? []),
      // If the database cannot be opened, both have the same cause.
      ...(writable && inspection ? [writable.finding] : []),
      ...(files?.findings ?? []),
      await runCheck('clock', () => checkClock(machine, times)),
    ]
  } finally {
    await inspection?.close()
  }
}

async function examineFiles(path: string, { backupEvery }: Service, machine: Machine) {
  const backups = await readOnce(() => listBackups(path))
  return {
    findings: [
      await runCheck('permissions', () => checkPermissions(path)),
      await runCheck('disk space', () => checkSpace(path)),
      await runCheck('file system', () => checkFileSystem(path, machine)),
      await runCheck('write-ahead log', () => checkLog(path)),
      await runCheck('backups', () => checkBackups(backupEvery, backups, machine.now)),
    ],
    times: orNone(() => newestBackup(backups())),
  }
}

/** One line for each check. */
export function describeFindings(findings: Finding[]): string {
  return alignColumns(findings.map(({ status, check, message }) => [status, check, message]))
}
