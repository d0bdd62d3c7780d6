import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { definition } from '../../../../db/store.ts'
import { openDatabase, sqliteDatabase } from '../../../../test/support/database.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { copyStore } from '../../copy/copy-store.ts'
import { inspect } from '../../open.ts'

/** What `sqlite-utils transform` and editors of tables do. */
const rebuild = `BEGIN;
  CREATE TABLE pets_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT NOT NULL);
  INSERT INTO pets_new SELECT * FROM pets; DROP TABLE pets; ALTER TABLE pets_new RENAME TO pets; COMMIT`

async function databaseWithPet() {
  const path = join(temporaryFolder(), 'petstore.db')
  const database = sqliteDatabase(path)
  const store = await database.open()
  await store.pets.create({ name: 'Rex', categoryId: 7n, status: 'sold' })
  return { ...database, path, store }
}

const problem =
  /table pets lacks STRICT, AUTOINCREMENT, pets_id_positive, .+pets_status_known, pets_by_status; .+ "petstore db copy"/

describe('a table that another program has rebuilt without its rules', () => {
  test('makes the store unready, and stops the start with a sentence that names them', async () => {
    const { store, execute, open, location } = await databaseWithPet()
    await store.check()
    await execute(rebuild)
    await expect(store.check()).rejects.toThrow(problem)
    await expect(open()).rejects.toThrow(problem)
    const inspection = await inspect(definition, location)
    expect(await inspection?.schema()).toMatchObject({ problem: expect.stringMatching(problem) })
    await inspection?.close()
  })

  test('is repaired by a copy, which names a row that breaks a rule', async () => {
    const { execute, location, store: damaged } = await databaseWithPet()
    await execute(rebuild)
    await damaged.close()
    const target = sqliteDatabase(join(temporaryFolder(), 'repaired.db'))
    await execute("INSERT INTO pets (name, category_id, status) VALUES ('Tim', 'seven', 'sold')")
    const copy = () => copyStore({ definition, from: location, to: target.location })
    await expect(copy()).rejects.toThrow(/the row 2 of pets: cannot store TEXT value in INTEGER column/)
    await execute("UPDATE pets SET category_id = 8 WHERE typeof(category_id) = 'text'")
    await copy()
    const store = await target.open()
    expect(await store.pets.list({ limit: 9, cursor: 0n })).toMatchObject([{ name: 'Rex' }, { name: 'Tim' }])
  })

  test('is accepted with its rules in another layout', async () => {
    const { execute, open, path } = await databaseWithPet()
    const sql = openDatabase(path).prepare("SELECT sql FROM sqlite_schema WHERE name = 'pets'").pluck().get()
    const quoted = String(sql)
      .replace(/^CREATE TABLE pets/, 'create table "pets_new"')
      .replaceAll('category_id', '[category_id]')
      .replaceAll(/CONSTRAINT (\w+) CHECK/g, 'constraint "$1"\n  check ')
      .replace('AUTOINCREMENT', 'autoincrement')
    expect(quoted).toContain('constraint "pets_status_known"')
    await execute(`BEGIN; ${quoted}; INSERT INTO pets_new SELECT * FROM pets; DROP TABLE pets;
      ALTER TABLE pets_new RENAME TO pets; CREATE INDEX "pets_by_status" ON pets ([status]); COMMIT`)
    await open()
  })
})

test('a database without the journal of its migrations is reported to an inspection', async () => {
  const { execute, location } = await databaseWithPet()
  await execute('DROP TABLE migrations')
  const inspection = await inspect(definition, location)
  const problem = 'it has some of the tables, but no table "migrations"'
  expect(await inspection?.schema()).toMatchObject({ problem: expect.stringContaining(problem) })
  await inspection?.close()
})
