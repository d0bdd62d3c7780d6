import type { Migration } from './migrations.ts'

/** The lock modes of https://www.postgresql.org/docs/current/explicit-locking.html that migrations take. */
export type LockMode = 'ROW EXCLUSIVE' | 'SHARE' | 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE'

/** The weakest mode first. */
const statements: [pattern: RegExp, mode: LockMode][] = [
  [/^(?:UPDATE|INSERT INTO|DELETE FROM) (\w+)/gim, 'ROW EXCLUSIVE'],
  [/^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/gim, 'SHARE'],
  [/^CREATE TRIGGER .*? ON (\w+)/gim, 'SHARE ROW EXCLUSIVE'],
  [/\bREFERENCES (\w+)/gi, 'SHARE ROW EXCLUSIVE'],
  [/^(?:ALTER|DROP) TABLE (?:IF EXISTS )?(\w+)/gim, 'ACCESS EXCLUSIVE'],
]

/**
 * The strongest lock that a migration takes on each existing table of PostgreSQL, by the text of its statements. A lock is
 * held until the transaction of all migrations ends.
 */
export function tableLocks({ sql }: Pick<Migration, 'sql'>): Map<string, LockMode> {
  const code = sql
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
  const created = new Set([...code.matchAll(/^CREATE TABLE (\w+)/gim)].map(([, table]) => table))
  const locks = new Map<string, LockMode>()
  for (const [pattern, mode] of statements) {
    for (const [, table = ''] of code.matchAll(pattern)) if (!created.has(table)) locks.set(table, mode)
  }
  return locks
}
