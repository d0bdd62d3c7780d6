import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, test } from 'vitest'
import { notesDatabase } from '../../../test/notes/database.ts'
import { isOnPostgres } from '../../../test/support/database.ts'
import { query } from '../../../test/support/postgres/databases.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { int64 } from '../../collection/schema.ts'
import { collection, defineStore } from '../../collection.ts'
import { engineTables } from '../../database/migrations.ts'
import { inspect, migrateStore } from '../../open.ts'

const table = sqliteTable(
  'notes',
  { id: int64('id').primaryKey({ autoIncrement: true }), topic: text().notNull() },
  ({ topic }) => [index('notes_by_topic').on(topic)],
)
const notes = isOnPostgres
  ? 'CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, topic text NOT NULL);'
  : 'CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL) STRICT;'
const notesByTopic = 'CREATE INDEX notes_by_topic ON notes (topic);'

test('a new migration after which a part is missing is rolled back, and its corrected file is applied', async () => {
  const { location } = await newDatabase()
  const reports: unknown[] = []
  const migrate = (definition: ReturnType<typeof productWith>) =>
    migrateStore(definition, location, { onMigrate: (...report) => reports.push(report) })
  const older = productWith({})
  await migrate(older)
  await expect(migrate(productWith({ '0001_notes': notes }, { notes: collection({ table }) }))).rejects.toThrow(
    /its table notes lacks notes_by_topic/,
  )
  await migrate(older)
  const corrected = productWith({ '0001_notes': notes + notesByTopic }, { notes: collection({ table }) })
  const before = await inspect(corrected, location)
  expect(await before?.schema()).toMatchObject({ pending: [{ name: '0001_notes' }], problem: undefined })
  expect(await before?.contents()).toEqual({})
  await before?.close()
  await migrate(corrected)
  expect(reports).toEqual([
    [
      ['', '_access', '_history', '_history_key', ...(isOnPostgres ? ['_take_turns'] : [])].map(
        (end) => `0000_engine_tables${end}`,
      ),
      true,
    ],
    [['0001_notes'], false],
  ])
  const inspection = await inspect(corrected, location)
  expect(await inspection?.schema()).toMatchObject({ pending: [], problem: undefined })
  await inspection?.close()
})

test('a migration that rows refuse is named with the reason, and can be corrected', async () => {
  const { location } = await newDatabase()
  const migrate = (sql: string) =>
    migrateStore(productWith({ '0001_notes': notes + notesByTopic, '0002_rule': sql }), location, {})
  const topics = "CREATE TABLE topics (topic text CHECK (topic <> ''));"
  await expect(migrate(`${topics} INSERT INTO topics VALUES ('')`)).rejects.toThrow(
    /its migration 0002_rule fails: .*check.*; correct its file if it is new, or the rows that it refuses/i,
  )
  await migrate(topics)
})

test('a first migration after which a part is missing leaves the database empty', async () => {
  const database = await newDatabase()
  const faulty = productWith({ '0001_notes': notes }, { notes: collection({ table }) })
  await expect(migrateStore(faulty, database.location, {})).rejects.toThrow('notes_by_topic')
  expect(await database.isEmpty()).toBe(true)
  const { location } = database
  if (location.kind === 'sqlite') writeFileSync(location.path, '')
  const reports: unknown[] = []
  await migrateStore(productWith({}), location, { onMigrate: (_, isNew) => reports.push(isNew) })
  expect(reports).toEqual([true])
})

describe('a product without migrations for this kind of database', () => {
  const message =
    /cannot be used: this service has no migrations for this kind of database; use the other kind \(file: or postgres:\)\.$/

  test('refuses it, and writes nothing', async () => {
    const database = await newDatabase()
    await expect(migrateStore(withoutThisKind(), database.location, {})).rejects.toThrow(message)
    expect(await database.isEmpty()).toBe(true)
  })

  test('needs statements of its own for the other kind only', () => {
    const statements = { [isOnPostgres ? 'sqlite' : 'postgres']: async () => ({}) }
    const collections = { notes: collection({ table, statements }) }
    const kind = isOnPostgres ? 'postgres' : 'sqlite'
    expect(withoutThisKind(collections).migrationsFor(kind)).toEqual([])
    expect(() => productWith({}, collections)).toThrow(
      `The collection notes needs statements.${kind}, because the store has migrations for ${kind}.`,
    )
  })

  function withoutThisKind(collections = {}) {
    const migrations = isOnPostgres ? { sqlite: [engineTables.sqlite] } : { postgres: [engineTables.postgres] }
    return defineStore({ url: import.meta.url, program: 'notes', applicationId: 1, migrations, collections })
  }
})

/** A product with the tables of keys and these migrations. */
function productWith(files: Record<string, string>, collections = {}) {
  const folder = temporaryFolder()
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, `${name}.sql`), sql)
  const kind = isOnPostgres ? 'postgres' : 'sqlite'
  const migrations = { [kind]: [engineTables[kind], pathToFileURL(folder)] }
  return defineStore({ url: import.meta.url, program: 'notes', applicationId: 1, migrations, collections })
}

async function newDatabase() {
  const { location } = await notesDatabase()
  return {
    location,
    async isEmpty(): Promise<boolean> {
      if (location.kind === 'sqlite') return !existsSync(location.path) || statSync(location.path).size === 0
      return (await query(location.url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).length === 0
    },
  }
}

test('a defect of what a start calls is not reported as an unusable database', async () => {
  const database = await notesDatabase()
  const onMigrate = () => {
    throw new TypeError('a defect')
  }
  await expect(database.open({}, { onMigrate })).rejects.toThrow(new TypeError('a defect'))
})
