import { describeLocation } from '../location.ts'
import { readJournal, readOwnMigrations } from '../postgres/migrate.ts'
import { refuseOtherRelease, type Source } from './endpoints.ts'
import { beginCopy, identify } from './postgres-session.ts'
import { attemptOn, readableTables } from './postgres-tables.ts'

/**
 * Opens a database to copy from, which may be in use, in one read-only transaction.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openSource(url: string): Promise<Source> {
  const attempt = attemptOn(url)
  return attempt(() =>
    beginCopy(url, 'REPEATABLE READ READ ONLY', async (session) => {
      refuseOtherRelease(await readJournal(session), readOwnMigrations(), describeLocation({ kind: 'postgres', url }))
      return {
        identity: await identify(session),
        ...readableTables(session, attempt),
        close: () => session.$client.end(),
      }
    }),
  )
}
