import type Database from 'better-sqlite3'
import { UnusableDatabase } from '../store.ts'

/**
 * Reads every page.
 *
 * @param corrupt the message for a database that is corrupt: why, and what to do.
 * @throws {UnusableDatabase} with the first finding.
 */
export function checkPages(
  connection: Database.Database,
  check: 'quick_check' | 'integrity_check',
  corrupt: string,
): void {
  const finding = String(connection.pragma(`${check}(1)`, { simple: true })).replace(/^\*\*\* .*\n/, '')
  if (finding === 'ok') return
  throw new UnusableDatabase(
    `${isReadError(finding) ? 'the disk cannot read it; check the disk' : corrupt} (${finding})`,
  )
}

/** SQLite counts a page that it cannot read among the corrupt ones: the low byte is SQLITE_IOERR. */
function isReadError(finding: string): boolean {
  const [, code] = /error code=(\d+)/.exec(finding) ?? []
  return (Number(code) & 0xff) === 10
}
