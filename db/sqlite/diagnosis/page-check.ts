import { once } from 'node:events'
import { startThread } from '../../thread.ts'
import { UnusableDatabase } from '../../unusable-database.ts'
import type { PageCheck } from '../file/connection.ts'

/** The `workerData` of the thread. */
export interface PageCheckData {
  path: string
  check: PageCheck
}

/** Calls {@link checkPages} in a thread, because it is one long call into SQLite. The process does not wait for its end. */
export async function checkPagesInThread(path: string, check: PageCheck): Promise<void> {
  const data: PageCheckData = { path, check }
  try {
    await once(startThread(new URL('page-check-thread.ts', import.meta.url), data), 'exit')
  } catch (error) {
    // An error from a thread keeps its properties, but not its class.
    if (error instanceof Error && 'reason' in error) throw new UnusableDatabase(path, String(error.reason))
    throw error
  }
}
