import { inspect } from '../../../db/inspect.ts'
import type { Inspection } from '../../../db/inspection.ts'
import { describeLocation, type Location } from '../../../db/location.ts'
import { UnusableDatabase } from '../../../db/unusable-database.ts'
import { alignColumns } from '../table.ts'
import { checkBackups, newestBackup } from './backups.ts'
import { checkIntegrity, checkSchema, checkServer, databaseMissing } from './database.ts'
import { checkFileSystem, checkLog, checkPermissions, checkSpace } from './files.ts'
import { type Finding, failure, ok } from './finding.ts'
import { checkClock, checkDescriptors, checkNode, type Machine, type Mark, thisMachine } from './machine.ts'
import { checkPort, type PortToCheck } from './port.ts'

/** What to examine: parts of the configuration. */
export interface Service {
  database: Location
  databaseConnections: number
  /** Milliseconds. */
  backupEvery: number | undefined
  port: PortToCheck
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
    ...(service ? [...(await examineDatabase(service, machine)), await checkPort(service.port)] : []),
  ]
}

async function examineDatabase(service: Service, machine: Machine): Promise<Finding[]> {
  const { database } = service
  const opened = await open(database)
  try {
    const { inspection } = opened
    const contents = inspection ? await examineContents(inspection, service) : []
    const marks = inspection ? await marksIn(inspection) : []
    const beside =
      database.kind === 'sqlite' ? examineFiles(database.path, service, machine) : { findings: [], marks: [] }
    return [opened.finding, ...contents, ...beside.findings, checkClock(machine, [...marks, ...beside.marks])]
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

async function marksIn(inspection: Inspection): Promise<Mark[]> {
  try {
    const { applied } = await inspection.schema()
    const stored = applied.length > 0 ? await inspection.newestTime() : undefined
    return [
      ...(stored ? [{ name: 'the database', time: stored }] : []),
      ...(inspection.kind === 'postgres'
        ? [{ name: 'the database server', time: (await inspection.server()).time }]
        : []),
    ]
  } catch (error) {
    // Another check reports it.
    if (error instanceof UnusableDatabase) return []
    throw error
  }
}

function examineFiles(path: string, { backupEvery }: Service, machine: Machine) {
  return {
    findings: [
      checkPermissions(path),
      checkSpace(path),
      checkFileSystem(path, machine),
      checkLog(path),
      checkBackups(path, backupEvery, machine.now),
    ],
    marks: newestBackup(path),
  }
}

/** One line for each check. */
export function describeFindings(findings: Finding[]): string {
  return alignColumns(findings.map(({ status, check, message }) => [status, check, message]))
}
