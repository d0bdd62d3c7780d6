import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { definition } from '../../db/store.ts'
import { readStatus } from '../../engine/service/commands/database.ts'
import { createProgram } from '../../engine/service/commands/program.ts'
import { commandsOf } from '../../engine/test/support/commands.ts'
import { databaseOf, isOnPostgres } from '../../engine/test/support/database.ts'
import { query } from '../../engine/test/support/postgres/databases.ts'
import type { Run } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { read } from '../support/documents.ts'
import { locationOf, makeBackup, runProgram, service } from '../support/petstore.ts'

interface Row {
  command: string
  /** What the command does with a database that is missing, and with one of an older release. */
  missing: Effect
  older: Effect
}

/**
 * `ok`, `refused` (exit code 1) and `misused` (exit code 2) leave the database as it is. `stopped` (exit code 1) has created
 * it before.
 */
type Effect = 'ok' | 'refused' | 'misused' | 'stopped' | 'created' | 'migrated' | 'replaced'

const rows: Row[] = [
  { command: 'keys create shop', missing: 'refused', older: 'refused' },
  { command: 'keys generate', missing: 'ok', older: 'ok' },
  { command: 'keys create pet_x', missing: 'misused', older: 'misused' },
  { command: 'keys create shop --expires never', missing: 'misused', older: 'misused' },
  { command: 'keys list', missing: 'refused', older: 'refused' },
  { command: 'keys revoke shop', missing: 'refused', older: 'refused' },
  { command: 'keys rotate shop', missing: 'refused', older: 'refused' },
  { command: 'keys rotate shop --expires never', missing: 'misused', older: 'misused' },
  { command: 'pets export', missing: 'refused', older: 'refused' },
  { command: 'pets export all.csv', missing: 'refused', older: 'refused' },
  { command: 'pets import pets.ndjson', missing: 'created', older: 'refused' },
  { command: 'pets import invalid.ndjson', missing: 'stopped', older: 'refused' },
  { command: 'pets import nowhere.ndjson', missing: 'refused', older: 'refused' },
  { command: 'backup', missing: 'refused', older: isOnPostgres ? 'refused' : 'ok' },
  { command: 'backup verify sample.db', missing: 'ok', older: 'ok' },
  { command: 'backup verify nowhere.db', missing: 'refused', older: 'refused' },
  {
    command: 'restore sample.db',
    missing: isOnPostgres ? 'refused' : 'created',
    older: isOnPostgres ? 'refused' : 'replaced',
  },
  { command: 'restore nowhere.db', missing: 'refused', older: 'refused' },
  { command: 'db status', missing: 'ok', older: 'ok' },
  { command: 'db migrate --dry-run', missing: 'ok', older: 'ok' },
  { command: 'db migrate', missing: 'created', older: 'migrated' },
  { command: 'db copy --from DATABASE --to file:all.csv', missing: 'refused', older: 'refused' },
  { command: 'db copy --from file:sample.db --to DATABASE', missing: 'created', older: 'refused' },
  { command: 'doctor', missing: 'ok', older: 'ok' },
  { command: 'healthcheck', missing: 'refused', older: 'refused' },
  { command: 'openapi', missing: 'ok', older: 'ok' },
]
const exitCodes: Partial<Record<Effect, number>> = { refused: 1, stopped: 1, misused: 2 }

test('the table has every command but serve', () => {
  const commands = commandsOf(createProgram(service)).map(({ words }) => words.join(' '))
  const names = commands.filter((name) => name !== 'serve')
  expect(names.filter((name) => !rows.some(({ command }) => command.startsWith(name)))).toEqual([])
})

test.for(rows)('$command: $missing if the database is missing', async ({ command, missing }) => {
  const folder = await workingFolder()
  const before = await stateOf(folder)
  const run = await runIn(folder, command)
  expect(await run.ended, run.stderr).toBe(exitCodes[missing] ?? 0)
  if (!['created', 'stopped'].includes(missing)) expect(await stateOf(folder)).toEqual(before)
  else
    expect(await readStatus(definition, locationOf(folder))).toMatchObject({ pending: [], schema: expect.any(String) })
  expect(existsSync(join(folder, 'all.csv'))).toBe(false)
})

test.for(rows)('$command: $older if an older release made the database', async ({ command, older }) => {
  const folder = await workingFolder()
  await makeOlder(folder)
  const before = await stateOf(folder)
  const run = await runIn(folder, command)
  expect(await run.ended, run.stderr).toBe(exitCodes[older] ?? 0)
  if (['migrated', 'replaced'].includes(older))
    expect((await readStatus(definition, locationOf(folder))).pending).toEqual([])
  else expect(await stateOf(folder)).toEqual(before)
  expect(existsSync(join(folder, 'all.csv'))).toBe(false)
})

/** Has the files that the commands read. */
async function workingFolder(): Promise<string> {
  const folder = temporaryFolder()
  // A copy of a database that is in use would be refused.
  copyFileSync((await makeBackup()).backup, join(folder, 'sample.db'))
  writeFileSync(join(folder, 'pets.ndjson'), '{"name":"Rex","categoryId":1}\n')
  writeFileSync(join(folder, 'invalid.ndjson'), '{"name":""}\n')
  return folder
}

async function makeOlder(folder: string): Promise<void> {
  const location = locationOf(folder)
  if (location.kind === 'postgres') {
    await query(location.url, read('test/fixtures/postgres/0000_init.sql'))
  } else {
    mkdirSync(join(folder, 'data'))
    copyFileSync(join(import.meta.dirname, '../fixtures/sqlite/0002_deletable_pets.db'), location.path)
  }
}

/** The folder of the database without its backups, or the tables and the journal of PostgreSQL. */
async function stateOf(folder: string): Promise<unknown> {
  const location = locationOf(folder)
  if (location.kind === 'postgres') {
    const tables = await query(location.url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return [tables, tables.length > 0 ? await query(location.url, 'SELECT * FROM migrations ORDER BY name') : []]
  }
  const data = join(folder, 'data')
  if (!existsSync(data)) return []
  const files = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ name }) => [name, hash('sha256', readFileSync(join(data, name)))]).toSorted()
}

async function runIn(folder: string, command: string): Promise<Run> {
  const { DATABASE_URL: url = 'file:data/petstore.db' } = databaseOf(folder)
  const words = command.split(' ').map((word) => (word === 'DATABASE' ? url : word))
  // A port without a service, so that `healthcheck` is refused.
  return runProgram({ folder, arguments: words, env: { DATABASE_URL: url } })
}
