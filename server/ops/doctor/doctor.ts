import type { Location } from '../../../db/location.ts'
import type { ResourceList } from '../../../db/resource-list.ts'
import { alignColumns } from '../table.ts'
import { examineDatabase } from './database.ts'
import { checkKeyFile, examineFiles } from './files.ts'
import { type Finding, finding, ok, runCheck } from './finding.ts'

/** What to examine: the resources, and parts of the configuration. */
export interface Service {
  resources: ResourceList
  database: Location
  /** Milliseconds. */
  backupEvery: number | undefined
  /** The file of PETSTORE_API_KEY_FILE. */
  apiKeyFile: string | undefined
}

/**
 * Examines a service and its files. Changes nothing, and works while the service runs.
 *
 * @param configuration findings about the configuration, for their place in the list.
 * @param service undefined if the configuration is wrong.
 */
export async function examine(configuration: Finding[], service: Service | undefined): Promise<Finding[]> {
  return [
    finding('node', ok(`Node ${process.version} on ${process.platform} ${process.arch}.`)),
    ...configuration,
    ...(service ? await examineService(service) : []),
  ]
}

async function examineService({ resources, database, backupEvery, apiKeyFile }: Service): Promise<Finding[]> {
  const contents = await examineDatabase(resources, database)
  // The file may belong to another program, whose permissions are its own.
  const isOwn = contents.every(({ check, status }) => check !== 'database' || status !== 'failure')
  return [
    ...(apiKeyFile === undefined ? [] : [await runCheck('key file', () => checkKeyFile(apiKeyFile))]),
    ...contents,
    ...(database.kind === 'sqlite' ? await examineFiles(database.path, isOwn, backupEvery) : []),
  ]
}

/** One line for each check. */
export function describeFindings(findings: Finding[]): string {
  return alignColumns(findings.map(({ status, check, message }) => [status, check, message]))
}
