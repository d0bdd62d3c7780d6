import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

/**
 * Drafts a migration for each configuration of drizzle-kit, if the tables differ from their migrations:
 * `node engine/generate.ts <configuration>... [--name <what changes>]`. drizzle-kit writes no STRICT and no triggers, and copies
 * a table to add a column with a check. This program corrects the draft.
 */

const breakpoint = '--> statement-breakpoint'

/** What drizzle-kit keeps of the tables with each migration. */
interface Snapshot {
  id: string
  prevId: string
  tables: Record<string, Table>
}

const parts = ['columns', 'foreignKeys', 'uniqueConstraints', 'checkConstraints'] as const
type Table = Record<(typeof parts)[number] | 'indexes', Record<string, unknown>>

async function draft(configuration: string, options: string[]): Promise<void> {
  const { default: config } = await import(pathToFileURL(resolve(configuration)).href)
  numberFromOne(config)
  const draftsIn = (pattern: string) => globSync(pattern, { cwd: config.out }).toSorted()
  const before = draftsIn('*.sql')
  const words = ['generate', '--config', configuration, ...options]
  const { status, error } = spawnSync('drizzle-kit', words, { stdio: 'inherit' })
  if (error || status !== 0) throw error ?? new Error('drizzle-kit failed.')
  const drafted = draftsIn('*.sql').find((each) => !before.includes(each))
  if (drafted === undefined) return
  const path = join(config.out, drafted)
  const statements = readFileSync(path, 'utf8').split(breakpoint)
  const trimmed = statements.map((statement) => statement.trim())
  const snapshots = draftsIn('meta/*.json').map((file) => JSON.parse(readFileSync(join(config.out, file), 'utf8')))
  const corrected = config.dialect === 'sqlite' ? correctForSqlite(trimmed, snapshots) : addTriggers(trimmed)
  writeFileSync(path, `${corrected.join(`\n${breakpoint}\n`)}\n`)
}

/** The tables of the engines are the migration 0000, so drizzle-kit has to begin a new folder with 0001. */
function numberFromOne({ out, dialect }: { out: string; dialect: string }): void {
  const path = join(out, 'meta/_journal.json')
  if (existsSync(path)) return
  const version = '7'
  const entries = [{ idx: 0, version, when: 0, tag: '0000_engine_tables', breakpoints: true }]
  mkdirSync(join(out, 'meta'), { recursive: true })
  writeFileSync(path, JSON.stringify({ version, dialect, entries }))
}

function correctForSqlite(statements: string[], snapshots: Snapshot[]): string[] {
  const now = snapshots.findLast(({ tables }) => tables)
  const before = snapshots.find(({ id }) => id === now?.prevId)
  const copied = statements.flatMap((each) => /^CREATE TABLE `__new_([^`]+)`/.exec(each)?.[1] ?? [])
  return statements.flatMap((statement) => {
    const [, index = '', indexed] = /^CREATE (?:UNIQUE )?INDEX `([^`]+)` ON `([^`]+)`/.exec(statement) ?? []
    const table = indexed ?? /^[^`]*`(?:__new_)?([^`]+)`/.exec(statement)?.[1] ?? ''
    const [extended, old] = [now?.tables[table], before?.tables[table]]
    if (copied.includes(table) && extended && old && isExtended(extended, old)) {
      if (statement.startsWith('CREATE TABLE')) return addColumns(table, statement, old)
      return statement.startsWith('CREATE') && !(index in old.indexes) ? [statement] : []
    }
    // The service enforces no foreign keys during a migration.
    if (statement.startsWith('PRAGMA')) return []
    // Without its sequence, the new table would give new rows the ids of removed rows.
    if (statement.startsWith('INSERT INTO `__new_')) return [statement, ...copySequence(table)]
    return [statement.replace(/^(CREATE TABLE .*\n\));$/s, '$1 STRICT;')]
  })
}

/** Whether a table has all that it had before, and another column. */
function isExtended(table: Table, before: Table): boolean {
  const isKept = parts.every((part) =>
    Object.entries(before[part]).every(([name, value]) => isDeepStrictEqual(table[part][name], value)),
  )
  return isKept && Object.keys(table.columns).length > Object.keys(before.columns).length
}

/** SQLite adds a check only together with a column. */
function addColumns(table: string, create: string, before: Table): string[] {
  const lines = create.split(/,?\n\t?/)
  const added = lines.flatMap((line) => /^`([^`]+)`/.exec(line)?.[1] ?? []).filter((name) => !(name in before.columns))
  return added.map((column) => {
    const [definition, ...rules] = lines.flatMap((line) => {
      if (line.startsWith(`\`${column}\` `)) return line
      if (line.startsWith(`FOREIGN KEY (\`${column}\`)`)) return line.slice(line.indexOf('REFERENCES'))
      const [, check] = /^CONSTRAINT "([^"]+)" CHECK/.exec(line) ?? []
      const isNew = check !== undefined && !(check in before.checkConstraints)
      return isNew && column === (added.findLast((name) => line.includes(`"${name}"`)) ?? added.at(-1)) ? line : []
    })
    return `ALTER TABLE \`${table}\` ADD ${[definition, ...rules].join('\n\t')};`
  })
}

function copySequence(table: string): string[] {
  return [
    `DELETE FROM sqlite_sequence WHERE name = '__new_${table}';`,
    `INSERT INTO sqlite_sequence SELECT '__new_${table}', seq FROM sqlite_sequence WHERE name = '${table}';`,
  ]
}

/** The trigger lets creates commit in the order of their ids, so that a page of a list skips no row. */
function addTriggers(statements: string[]): string[] {
  return statements.flatMap((statement) => {
    const [, table] = /^CREATE TABLE "([^"]+)".* GENERATED ALWAYS AS IDENTITY /s.exec(statement) ?? []
    if (table === undefined) return [statement]
    const trigger = `CREATE TRIGGER "${table}_take_turns" BEFORE INSERT ON "${table}"`
    return [statement, `${trigger} FOR EACH STATEMENT EXECUTE FUNCTION take_turns();`]
  })
}

const words = process.argv.slice(2)
const first = words.findIndex((word) => word.startsWith('-'))
const count = first === -1 ? words.length : first
for (const configuration of words.slice(0, count)) await draft(configuration, words.slice(count))
