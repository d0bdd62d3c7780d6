import type { Inspection, SchemaState, ServerState } from '../../../db/inspection.ts'
import { describeLocation, type Location } from '../../../db/location.ts'
import { inspect } from '../../../db/open.ts'
import type { ResourceList } from '../../../db/resource-list.ts'
import { count } from '../count.ts'
import { describeSize } from '../table.ts'
import { describeError, type Finding, failure, finding, ok, runCheck, type Verdict, warning } from './finding.ts'

/** PostgreSQL's developers correct faults of each major version for five years: 15 is the oldest that they support. */
const minPostgresVersion = 15

/** Opens the database, and examines its schema, and the pages of SQLite or the server of PostgreSQL. */
export async function examineDatabase(resources: ResourceList, location: Location): Promise<Finding[]> {
  const name = describeLocation(location)
  let inspection: Inspection | undefined
  try {
    inspection = await inspect(resources, location)
  } catch (error) {
    return [finding('database', failure(describeError(error)))]
  }
  if (!inspection) {
    const missing = `There is no database at ${name} yet. The first start creates it; check DATABASE_URL if there should be one.`
    return [finding('database', warning(missing))]
  }
  const { schema, close } = inspection
  try {
    return [
      finding('database', ok(`${name} can be opened.`)),
      await runCheck('schema', async () => judgeSchema(await schema())),
      await examineEngine(inspection),
    ]
  } finally {
    await close()
  }
}

function judgeSchema({ applied, pending, problem }: SchemaState): Verdict {
  if (problem !== undefined) return failure(`This release cannot use the schema: ${problem}.`)
  const newest = applied.at(-1)
  if (newest === undefined) return warning('There are no tables yet. The first start creates them.')
  if (pending.length === 0) return ok(`${newest}, which is current.`)
  const waiting = `${count(pending.length, 'migration')} ${pending.length === 1 ? 'is' : 'are'}`
  return warning(
    `${newest}, and ${waiting} pending. Back up the database; the next start applies them, or petstore db migrate.`,
  )
}

function examineEngine(inspection: Inspection): Promise<Finding> {
  if (inspection.kind === 'postgres') return runCheck('server', async () => judgeServer(await inspection.server()))
  return runCheck('integrity', async () => {
    await inspection.checkPages()
    return ok(`PRAGMA quick_check finds no damage (${describeSize((await inspection.bytes()).database)}).`)
  })
}

function judgeServer({ version, encoding, isReadOnly }: ServerState): Verdict {
  if (encoding !== 'UTF8')
    return failure(`The encoding ${encoding} cannot store every name. Make another database with ENCODING 'UTF8'.`)
  if (isReadOnly)
    return failure(
      `PostgreSQL ${version} accepts no writes: turn off default_transaction_read_only, or correct the address.`,
    )
  if (Number.parseInt(version, 10) >= minPostgresVersion) return ok(`PostgreSQL ${version}.`)
  return warning(`PostgreSQL ${version} is no longer maintained. Use ${minPostgresVersion} or newer.`)
}
