import { refuseOtherRelease, type Source } from '../copy/endpoints.ts'
import { beginCopy, identify } from './copy-session.ts'
import { readJournal, readOwnMigrations } from './migrate.ts'
import { attemptOn, readableTables } from './tables.ts'

/**
 * Opens a database to copy from, which may be in use, in one read-only transaction.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function openSource(url: string): Promise<Source> {
  const attempt = attemptOn(url)
  return attempt(() =>
    beginCopy(url, 'REPEATABLE READ READ ONLY', async (session) => {
      refuseOtherRelease(await readJournal(session), readOwnMigrations())
      return {
        identity: await identify(session),
        ...readableTables(session, attempt),
        close: () => session.$client.end(),
      }
    }),
  )
}
