import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { definition } from '../../../db/store.ts'
import { maxInt64, minInt64 } from '../../../engine/service/api/int64.ts'
import { UnusableDatabase } from '../../../engine/store/collection/errors.ts'
import { type CopyRequest, copyStore } from '../../../engine/store/copy/copy-store.ts'
import { openDatabase } from '../../../engine/test/support/database.ts'
import { emptyDatabase, query } from '../../../engine/test/support/postgres/databases.ts'
import { type Run, runCommand } from '../../../engine/test/support/process.ts'
import { contentsOf } from '../../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import {
  commandLine,
  postgresDatabase,
  preparePostgres,
  prepareSqlite,
  sqliteDatabase,
  type TestDatabase,
  tableNames,
} from '../petstore.ts'

export type Kind = 'sqlite' | 'postgres'
export const kinds: Kind[] = ['sqlite', 'postgres']
export const pairs = kinds.flatMap((from) => kinds.map((to) => ({ from, to })))

/** A location for a new database: a path without a file, or a PostgreSQL database without tables. */
export async function newDatabase(kind: Kind): Promise<TestDatabase> {
  if (kind === 'postgres') return postgresDatabase(await emptyDatabase())
  return sqliteDatabase(join(temporaryFolder(), 'petstore.db'))
}

export async function newDatabases(from: Kind, to: Kind): Promise<{ from: TestDatabase; to: TestDatabase }> {
  return { from: await newDatabase(from), to: await newDatabase(to) }
}

/** Creates the tables, and runs statements. */
export async function fill({ location, execute }: TestDatabase, ...statements: string[]): Promise<void> {
  if (location.kind === 'postgres') await preparePostgres(location.url)
  else prepareSqlite(location.path)
  for (const sql of statements) await execute(sql)
}

export function addingKeys(count: number, word = 'key'): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const hash = createHash('sha256').update(`${word} ${index}`).digest('hex')
    return `('${word} ${index}', 'pet_', '${hash}', '2026-01-01T00:00:00.000Z')`
  })
  return `INSERT INTO api_keys (name, start, hash, created_at) VALUES ${rows.join(', ')}`
}

export function pathOf({ location }: TestDatabase): string {
  if (location.kind !== 'sqlite') throw new Error('The database is not a file.')
  return location.path
}

export function urlOf({ location }: TestDatabase): string {
  if (location.kind !== 'postgres') throw new Error('The database is not in PostgreSQL.')
  return location.url
}

export function nameOf(database: TestDatabase): string {
  return new URL(urlOf(database)).pathname.slice(1)
}

/** The location as an argument of the command. */
export function specOf({ location }: TestDatabase): string {
  return location.kind === 'sqlite' ? `file:${location.path}` : location.url
}

export async function copy(
  { from, to }: { from: TestDatabase; to: TestDatabase },
  options: Partial<Omit<CopyRequest, 'definition'>> = {},
) {
  const tables = await copyStore({ definition, from: from.location, to: to.location, ...options })
  return {
    /** By the names of the tables that have any. */
    rows: Object.fromEntries(tables.filter(({ rows }) => rows > 0).map(({ name, rows }) => [name, rows])),
    checksums: tables.map(({ sha256 }) => sha256),
  }
}

/** Starts the command in a child process, behind other words. */
export function startCopy(folder: string, from: string, to: string, words: string[] = []): Run {
  return runCommand([...words, ...commandLine, 'db', 'copy', '--from', from, '--to', to], { folder })
}

/** Expects the command to fail with one sentence for the operator. */
export async function expectRefusal(
  databases: { from: TestDatabase; to: TestDatabase },
  reason: string | RegExp,
  options: Partial<Omit<CopyRequest, 'definition'>> = {},
): Promise<void> {
  const error: unknown = await copy(databases, options).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(UnusableDatabase)
  expect(String(error)).toMatch(/^UnusableDatabase: The database \S+ [^\n]+\.$/)
  expect(String(error)).toMatch(reason)
}

export async function expectEmpty(database: TestDatabase): Promise<void> {
  for (const table of tableNames) expect(await database.rows(table)).toEqual([])
}

/** The ids of the next pet and the next API key. */
export async function nextIds(database: TestDatabase): Promise<bigint[]> {
  const store = await database.open()
  const pet = await store.pets.create({ name: 'next', categoryId: 1n, status: 'sold' })
  const key = { name: 'next', start: 'pet_', hash: 'f'.repeat(64), createdAt: new Date(), access: 'write' as const }
  return [pet.id, (await store.apiKeys.create(key)).id]
}

/** All rows of a file, with exact integers. */
export function contentOf(database: TestDatabase): unknown[][] {
  const file = openDatabase(pathOf(database)).defaultSafeIntegers()
  return [...tableNames, 'sqlite_sequence'].map((table) => file.prepare(`SELECT * FROM ${table} ORDER BY 1`).all())
}

/** What is in the folder of a database. */
export function filesBeside(database: TestDatabase): Record<string, string> {
  return contentsOf(dirname(pathOf(database)))
}

export async function tablesIn(database: TestDatabase): Promise<unknown[]> {
  return query(urlOf(database), "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public'")
}

const petNames = [
  ' Rex ',
  'Zoë 🐶 日本 שָׁלוֹם e\u0301',
  '𝒳'.repeat(255),
  '\u{10FFFF}\uFFFE',
  '\uFEFFx',
  `O'Hara \\ "%s" $1 {a,NULL} \\x41`,
  'gone',
  'NULL',
]
const categories = [minInt64, maxInt64, 0n, -1n, 2n ** 53n + 1n, 7n, 8n, 9n]

/** Values of created_at, expires_at, revoked_at and last_used_at. */
const sampleTimes = [
  ['2026-01-01T00:00:00.001Z', null, null, '2026-03-29T01:30:00.500Z'],
  ['2025-06-30T23:59:59.999Z', '2025-07-01T00:00:00.000Z', '2025-06-30T23:59:59.999Z', null],
  ['2024-02-29T12:00:00.120Z', '1999-12-31T23:59:59.999Z', null, null],
]

/** A database file with boundary values and deleted rows. */
export function sampleFile(): TestDatabase {
  const database = sqliteDatabase(join(temporaryFolder(), 'petstore.db'))
  prepareSqlite(pathOf(database))
  const file = openDatabase(pathOf(database))
  const insertKey = file.prepare(`
    INSERT INTO api_keys (id, name, start, hash, created_at, expires_at, revoked_at, last_used_at)
    VALUES (?, ?, 'pet_ABCDEF', ?, ?, ?, ?, ?)`)
  // The second key is revoked, so it may have the same name as the first one.
  for (const [index, times] of sampleTimes.entries())
    insertKey.run([minInt64, 1, 2][index], ['shop', 'shop', 'till'][index], String(index).repeat(64), ...times)
  const insertRow = file.prepare('INSERT INTO pets (id, name, category_id, status) VALUES (?, ?, ?, ?)')
  for (const [index, name] of petNames.entries()) {
    const id = index < 4 ? BigInt(index + 1) : maxInt64 + BigInt(index - petNames.length + 1)
    insertRow.run(id, name, categories[index], ['available', 'pending', 'sold'][index % 3])
  }
  file.exec(`
    INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at) VALUES
      (1, 'order-17', 'pets.create', '${'1'.repeat(64)}', '{"id":2}', '2026-03-29T01:30:00.500Z'),
      (2, '${'~'.repeat(255)}', 'pets.create', '${'2'.repeat(64)}', '{"id":9007199254740999}', '2026-03-29T01:30:00.501Z');
    INSERT INTO history (at, key_name, idempotency_key, collection, row_id, before, after) VALUES
      ('2026-03-29T01:30:00.501Z', NULL, NULL, 'pets', 5, '{"status":"sold"}', '{"status":"pending"}'),
      ('2026-03-29T01:30:00.502Z', 'shop', 'order-18', 'pets', 5, '{"name":"gone","categoryId":9223372036854775807}', NULL);
    DELETE FROM pets WHERE name = 'gone'`)
  file.close()
  return database
}
