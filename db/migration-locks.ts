import type { Migration } from './migrations.ts'

/** The lock modes of https://www.postgresql.org/docs/current/explicit-locking.html that migrations take. */
export type LockMode = 'ROW EXCLUSIVE' | 'SHARE' | 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE'

const name = String.raw`(?:"[^"]*"|[\w$]+)`
const table = String.raw`(?:ONLY )?(?:${name}\.)?${name}`

/** The weakest mode first. */
const patterns: [pattern: RegExp, mode: LockMode][] = [
  [new RegExp(`^(?:UPDATE|INSERT INTO|DELETE FROM) (${table})`, 'gi'), 'ROW EXCLUSIVE'],
  [new RegExp(`^CREATE (?:UNIQUE )?INDEX (?:(?:IF NOT EXISTS )?${name} )?ON (${table})`, 'gi'), 'SHARE'],
  [new RegExp(`^CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER .*? ON (${table})`, 'gi'), 'SHARE ROW EXCLUSIVE'],
  [new RegExp(`\\bREFERENCES (${table})`, 'gi'), 'SHARE ROW EXCLUSIVE'],
  [new RegExp(`^ALTER TABLE (?:IF EXISTS )?(${table})`, 'gi'), 'ACCESS EXCLUSIVE'],
  [
    new RegExp(`^(?:DROP TABLE (?:IF EXISTS )?|TRUNCATE (?:TABLE )?)(${table}(?: ?, ?${table})*)`, 'gi'),
    'ACCESS EXCLUSIVE',
  ],
]
const creation = new RegExp(`^CREATE TABLE (?:IF NOT EXISTS )?(${table})`, 'gi')

/**
 * The strongest lock that a migration takes on each existing table of PostgreSQL, by the text of its statements. A lock is
 * held until the transaction of all migrations ends. `ALTER TABLE` counts as ACCESS EXCLUSIVE, although some of its forms take
 * a weaker lock.
 */
export function tableLocks({ sql }: Pick<Migration, 'sql'>): Map<string, LockMode> {
  const statements = statementsOf(sql)
  const created = new Set(statements.flatMap((statement) => tablesIn(statement, creation)))
  const locks = new Map<string, LockMode>()
  for (const [pattern, mode] of patterns) {
    const tables = statements.flatMap((statement) => tablesIn(statement, pattern))
    for (const each of tables) if (!created.has(each)) locks.set(each, mode)
  }
  return locks
}

/** https://www.postgresql.org/docs/current/sql-syntax-lexical.html */
const comment = String.raw`--.*|/\*[^]*?\*/`
const literal = String.raw`(\$\w*\$)[^]*?\2|\bE'(?:\\[^]|''|[^'\\])*'|'(?:''|[^'])*'`
const quotedName = '"((?:""|[^"])+)"'
const token = new RegExp(String.raw`${comment}|(${literal})|${quotedName}|\s+`, 'gi')

/** Each statement on one line, without comments and literals. Quoted names are in hexadecimal, so nothing in them looks like SQL. */
function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(token, (_, text?: string, _tag?: string, quoted?: string) => {
      if (quoted !== undefined) return `"${Buffer.from(quoted.replaceAll('""', '"')).toString('hex')}"`
      return text === undefined ? ' ' : "''"
    })
    .replaceAll(/ +/g, ' ')
    .split(';')
    .map((statement) => statement.trim())
}

/** The names without their schemas. PostgreSQL converts a name without quotes to lower case. */
function tablesIn(statement: string, pattern: RegExp): string[] {
  return [...statement.matchAll(pattern)]
    .flatMap(([, tables = '']) => tables.split(','))
    .map((table) => table.trim().split(/[ .]/).at(-1) ?? '')
    .map((found) => (found.startsWith('"') ? Buffer.from(found.slice(1, -1), 'hex').toString() : found.toLowerCase()))
}
