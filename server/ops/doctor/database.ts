import { tryWrite } from '../../../db/inspect.ts'
import type { Inspection, PostgresInspection, ServerState, SqliteInspection } from '../../../db/inspection.ts'
import { describeLocation, type Location } from '../../../db/location.ts'
import { describeSize } from '../table.ts'
import { type Finding, failure, ok, runCheck, warning } from './finding.ts'

/** PostgreSQL's developers correct faults of each major version for five years: 15 is the oldest that they support. */
const minPostgresVersion = 15

export function databaseMissing(location: Location): Finding {
  return warning(
    'database',
    `${describeLocation(location)} does not exist yet. The first start creates it; check DATABASE_URL if there should be one.`,
  )
}

/** Milliseconds, also for the start of a process. */
const writeTimeout = 10_000

/** Also returns whether the disk hangs. No further check may use the disk then. */
export async function checkWritable(path: string): Promise<{ finding: Finding; isHanging: boolean }> {
  let isHanging = false
  const finding = await runCheck('writable', async () => {
    const problem = await tryWrite(path, writeTimeout)
    isHanging = problem === 'hangs'
    if (problem === undefined) return ok('writable', 'The write lock is free, and the disk completes a write.')
    if (!isHanging) return failure('writable', problem)
    return failure(
      'writable',
      `The disk of ${path} did not complete a write within ${writeTimeout / 1_000} s, so the database was not examined. Thaw the file system (fsfreeze --unfreeze), or check the disk.`,
    )
  })
  return { finding, isHanging }
}

export async function checkSchema(inspection: Inspection): Promise<Finding> {
  return runCheck('schema', async () => {
    const { applied, pending, problem } = await inspection.schema()
    if (problem !== undefined) return failure('schema', `This release cannot use the schema: ${problem}.`)
    const newest = applied.at(-1) ?? 'none'
    if (pending.length === 0) return ok('schema', `${newest}, which is current.`)
    const count = pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`
    return warning(
      'schema',
      `${newest}, and ${count} pending. Back up the database; the next start applies them, or petstore db migrate.`,
    )
  })
}

export async function checkIntegrity(inspection: SqliteInspection): Promise<Finding> {
  return runCheck('integrity', async () => {
    await inspection.checkPages()
    return ok('integrity', `All pages are intact (${describeSize((await inspection.bytes()).database)}).`)
  })
}

/** @param needed connections of one instance. */
export async function checkServer(inspection: PostgresInspection, needed: number): Promise<Finding[]> {
  try {
    return judgeServer(await inspection.server(), needed)
  } catch (error) {
    return [failure('server', error instanceof Error ? error.message : String(error))]
  }
}

function judgeServer({ version, encoding, isReadOnly, connectionsLeft }: ServerState, needed: number): Finding[] {
  return [
    Number.parseInt(version, 10) >= minPostgresVersion
      ? ok('server', `PostgreSQL ${version}.`)
      : warning('server', `PostgreSQL ${version} is no longer maintained. Use ${minPostgresVersion} or newer.`),
    encoding === 'UTF8'
      ? ok('encoding', 'UTF8.')
      : failure('encoding', `${encoding} cannot store every name. Make another database with ENCODING 'UTF8'.`),
    isReadOnly
      ? failure('writable', 'The server accepts no writes. Wait until it does, or correct the address.')
      : ok('writable', 'The server accepts writes.'),
    connectionsLeft >= needed
      ? ok('connections', `${connectionsLeft} connections are free.`)
      : warning(
          'connections',
          `${connectionsLeft} connections are free, and an instance may need ${needed}. Raise max_connections, or lower DATABASE_CONNECTIONS.`,
        ),
  ]
}
