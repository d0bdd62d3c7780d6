import { inspect, tryWrite } from '../../../db/inspect.ts'
import type { Inspection, SchemaState, ServerState } from '../../../db/inspection.ts'
import { describeLocation, type Location } from '../../../db/location.ts'
import type { ResourceList } from '../../../db/resource-list.ts'
import { UnusableDatabase } from '../../../db/unusable-database.ts'
import { count } from '../count.ts'
import { describeSize } from '../table.ts'
import { type Finding, failure, finding, ok, orNone, readOnce, runCheck, type Verdict, warning } from './finding.ts'
import type { KnownTime } from './machine.ts'

/** PostgreSQL's developers correct faults of each major version for five years: 15 is the oldest that they support. */
const minPostgresVersion = 15
/** Milliseconds, also for the start of a process. */
const writeTimeout = 10_000

/** Opens a database for the other checks, if it can be opened. */
export async function openDatabase(
  resources: ResourceList,
  location: Location,
): Promise<{ inspection?: Inspection | undefined; verdict: Verdict }> {
  const name = describeLocation(location)
  try {
    const inspection = await inspect(resources, location)
    if (inspection) return { inspection, verdict: ok(`${name} can be opened.`) }
    return {
      verdict: warning(
        `${name} does not exist yet. The first start creates it; check DATABASE_URL if there should be one.`,
      ),
    }
  } catch (error) {
    if (!(error instanceof UnusableDatabase)) throw error
    return { verdict: failure(error.message) }
  }
}

/** Also returns whether the disk hangs. No further check may use the disk then. */
export async function checkWritable(path: string): Promise<{ finding: Finding; isHanging: boolean }> {
  let isHanging = false
  const result = await runCheck('writable', async () => {
    const problem = await tryWrite(path, writeTimeout)
    isHanging = problem === 'hangs'
    if (problem === undefined) return ok('The write lock is free, and the disk completes a write.')
    if (!isHanging) return failure(problem)
    return failure(
      `The disk of ${path} did not complete a write within ${writeTimeout / 1_000} s, so the database was not examined. Thaw the file system (fsfreeze --unfreeze), or check the disk.`,
    )
  })
  return { finding: result, isHanging }
}

/**
 * Examines the schema, and the pages of SQLite or the server of PostgreSQL. Also returns the times that were found.
 *
 * @param neededConnections of one instance.
 */
export async function examineContents(
  inspection: Inspection,
  neededConnections: number,
): Promise<{ findings: Finding[]; times: KnownTime[] }> {
  const findings = [await runCheck('schema', async () => judgeSchema(await inspection.schema()))]
  const times = await readOnce(async () => {
    const newest = await inspection.newestTime()
    return newest ? [{ name: 'the database', time: newest }] : []
  })
  if (inspection.kind === 'sqlite') {
    const integrity = await runCheck('integrity', async () => {
      await inspection.checkPages()
      return ok(`All pages are intact (${describeSize((await inspection.bytes()).database)}).`)
    })
    return { findings: [...findings, integrity], times: orNone(times) }
  }
  const server = await readOnce(() => inspection.server())
  const reading = await runCheck('server', () => ok(server().version))
  return {
    findings: [...findings, ...(reading.status === 'ok' ? judgeServer(server(), neededConnections) : [reading])],
    times: orNone(() => [...times(), { name: 'the database server', time: server().time }]),
  }
}

function judgeSchema({ applied, pending, problem }: SchemaState): Verdict {
  if (problem !== undefined) return failure(`This release cannot use the schema: ${problem}.`)
  const newest = applied.at(-1) ?? 'none'
  if (pending.length === 0) return ok(`${newest}, which is current.`)
  const waiting = `${count(pending.length, 'migration')} ${pending.length === 1 ? 'is' : 'are'}`
  return warning(
    `${newest}, and ${waiting} pending. Back up the database; the next start applies them, or petstore db migrate.`,
  )
}

/** @param needed connections of one instance. */
function judgeServer({ version, encoding, isReadOnly, connectionsLeft }: ServerState, needed: number): Finding[] {
  return [
    finding(
      'server',
      Number.parseInt(version, 10) >= minPostgresVersion
        ? ok(`PostgreSQL ${version}.`)
        : warning(`PostgreSQL ${version} is no longer maintained. Use ${minPostgresVersion} or newer.`),
    ),
    finding(
      'encoding',
      encoding === 'UTF8'
        ? ok('UTF8.')
        : failure(`${encoding} cannot store every name. Make another database with ENCODING 'UTF8'.`),
    ),
    finding(
      'writable',
      isReadOnly
        ? failure('The server accepts no writes. Wait until it does, or correct the address.')
        : ok('The server accepts writes.'),
    ),
    finding(
      'connections',
      connectionsLeft >= needed
        ? ok(`${connectionsLeft} connections are free.`)
        : warning(
            `${connectionsLeft} connections are free, and an instance may need ${needed}. Raise max_connections, or lower DATABASE_CONNECTIONS.`,
          ),
    ),
  ]
}
