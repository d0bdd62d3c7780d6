import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import drizzleConfig from '../../../../db/drizzle.postgres.config.ts'
import { pets } from '../../../../db/pets/pets.ts'
import { definition } from '../../../../db/store.ts'
import { postgresDatabase, testDatabase } from '../../../../test/support/database.ts'
import { onPostgres, preparePostgres } from '../../../../test/support/engines.ts'
import { fastest } from '../../../../test/support/fastest.ts'
import { isName, namesOfAllCharacters } from '../../../../test/support/pet-names.ts'
import { createDatabase, emptyDatabase, query } from '../../../../test/support/postgres/databases.ts'
import { temporaryFolder } from '../../../../test/support/temporary.ts'
import { startTestApi } from '../../../../test/support/test-api.ts'
import { describeKeys, listKeys } from '../../../service/commands/key-actions.ts'
import { readMigrations } from '../../database/migrations.ts'
import { openStore } from '../../open.ts'
import { openPool } from '../../postgres/connection/connection.ts'
import { Failures } from '../../postgres/connection/failure.ts'
import { migrate } from '../../postgres/migrate.ts'
import { prepareMutations } from '../../postgres/mutations.ts'
import { insertInto } from '../../postgres/statements.ts'
import { postgresTableOf } from '../../postgres/table.ts'

const insert = 'INSERT INTO pets (name, category_id, status) VALUES'
const insertKey = "INSERT INTO api_keys (name, start, hash, created_at, expires_at) VALUES ('a', 'pet_',"

describe('the constraints of the table accept the same names as the service:', () => {
  test('every character of the Basic Multilingual Plane and some beyond, alone and among others', async () => {
    const url = await petstore()
    const names = namesOfAllCharacters().filter((name) => name.isWellFormed() && !name.includes('\0'))
    const accepted = await check(url, names)
    expect(names.filter((name, index) => isName(name) !== accepted[index])).toEqual([])
  })

  test('names of all lengths', async () => {
    const url = await petstore()
    const names = ['x', '𝒳'].flatMap((character) => [0, 1, 254, 255, 256, 510, 511].map((n) => character.repeat(n)))
    expect(await check(url, names)).toEqual(names.map(isName))
  })
})

/** Whether the table's constraints accept each name. */
async function check(url: string, names: string[]): Promise<boolean[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const rules = await client.query<{ rule: string }>(
    "SELECT pg_get_expr(conbin, conrelid) AS rule FROM pg_constraint WHERE conname LIKE 'pets_name_%' AND contype = 'c'",
  )
  expect(rules.rows).toHaveLength(3)
  const all = rules.rows.map(({ rule }) => `(${rule})`).join(' AND ')
  const checked = await client.query<{ holds: boolean }>(
    `SELECT ${all} AS holds FROM unnest($1::text[]) WITH ORDINALITY AS given (name, place) ORDER BY place`,
    [names],
  )
  await client.end()
  return checked.rows.map(({ holds }) => holds)
}

describe('a row that is inserted by hand:', () => {
  test.for([
    [`${insert} ('', 7, 'sold')`, 'pets_name_length'],
    [`${insert} (E'\\u3000', 7, 'sold')`, 'pets_name_not_blank'],
    [`${insert} (E'a\\nb', 7, 'sold')`, 'pets_name_no_control_characters'],
    [`${insert} ('Rex', 7, 'lost')`, 'pets_status_known'],
    [`${insert} ('Rex', null, 'sold')`, 'null value in column "category_id"'],
    [`${insert} ('Rex', 9223372036854775808, 'sold')`, 'bigint out of range'],
    ["INSERT INTO pets OVERRIDING SYSTEM VALUE VALUES (0, 'Rex', 7, 'sold')", 'pets_id_positive'],
    ["INSERT INTO pets VALUES (5, 'Rex', 7, 'sold')", 'cannot insert a non-DEFAULT value into column "id"'],
    [
      "INSERT INTO api_keys (name, start, hash, created_at) VALUES ('a', 'pet_', 'short', now())",
      'api_keys_hash_sha256',
    ],
    ...['infinity', '-infinity', '0044-03-15 BC', '10000-01-01'].map(
      (time) => [`${insertKey} '${'a'.repeat(64)}', now(), '${time}')`, 'api_keys_expires_at_in_range'] as const,
    ),
  ] as const)('%s fails because of %s', async ([statement, rule]) => {
    await expect(query(await petstore(), statement)).rejects.toThrow(rule)
  })

  test('a pet is visible to the service at once, and its id is not used again', async () => {
    const database = await testDatabase()
    const { pets } = await database.open()
    await database.execute(`${insert} ('Rex', 7, 'sold')`)
    expect(await pets.list({ limit: 10, cursor: 0n })).toEqual([
      { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' },
    ])
    await database.execute('DELETE FROM pets')
    expect((await pets.create({ name: 'Rex', categoryId: 7n, status: 'sold' })).id).toBe(2n)
  })
})

test('a page of one status is read without reading the pets of other statuses', async () => {
  const url = await petstore()
  const { pets } = await postgresDatabase(url).open()
  await query(
    url,
    `${insert.replace(' VALUES', '')} SELECT 'Rex', 1, CASE WHEN n <= 50000 THEN 'sold' ELSE 'pending' END FROM generate_series(1, 100000) AS n`,
  )
  await query(url, 'ANALYZE pets')
  const page = () => pets.list({ status: 'pending', cursor: 0n, limit: 2 })
  expect((await page()).map(({ id }) => id)).toEqual([50_001n, 50_002n])
  const firstPage = () => pets.list({ status: 'sold', cursor: 0n, limit: 2 })
  expect(await fastest(page)).toBeLessThan((await fastest(firstPage)) * 8)
})

test('statements that were planned for a small table use its indexes when it grows', async () => {
  const url = await petstore()
  const add = (count: number) =>
    query(url, `${insert.replace(' VALUES', '')} SELECT 'Rex', 1, 'sold' FROM generate_series(1, ${count})`)
  await add(50)
  await query(url, 'ALTER TABLE pets SET (autovacuum_enabled = off); ANALYZE pets')
  const { pets, close } = await openStore(definition, { kind: 'postgres', url }, { busyTimeout: 0 })
  async function read(): Promise<void> {
    await pets.get(50_000n)
    await pets.list({ cursor: 50_000n, limit: 20 })
    await pets.list({ status: 'sold', cursor: 50_000n, limit: 20 })
  }
  await read()
  await add(100_000)
  await read()
  await close()
  // PostgreSQL adds the statistics of a session when it ends.
  const rowsRead = `SELECT seq_tup_read AS "inTable",
    (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS each WHERE each.relid = tables.relid) AS "inIndexes"
    FROM pg_stat_user_tables AS tables WHERE relname = 'pets'`
  await expect.poll(() => query(url, rowsRead)).toEqual([{ inTable: '0', inIndexes: '41' }])
})

test('the counts read only the index by status, and no more of it than they count', async () => {
  const url = await petstore()
  await query(
    url,
    `${insert.replace(' VALUES', '')} SELECT 'Rex', 1, CASE WHEN n <= 50000 THEN 'sold' ELSE 'pending' END FROM generate_series(1, 100000) AS n`,
  )
  const { pets, close } = await openStore(definition, { kind: 'postgres', url }, { busyTimeout: 0 })
  await pets.counts()
  // PostgreSQL adds the statistics of a session when it ends.
  await close()
  const read = "SELECT indexrelname AS index, idx_tup_read AS entries FROM pg_stat_user_indexes WHERE relname = 'pets'"
  await expect
    .poll(() => query(url, `${read} ORDER BY 1`))
    .toEqual([
      { index: 'pets_by_status', entries: '20002' },
      { index: 'pets_pkey', entries: '0' },
    ])
})

test('a create that violates a constraint fails alone in its batch', async () => {
  const { pets } = await postgresDatabase(await petstore()).open()
  const [good, bad] = [{ name: 'Rex' }, { name: '' }].map(
    (pet) => ({ ...pet, categoryId: 7n, status: 'sold' }) as const,
  )
  const outcomes = await Promise.allSettled([good, good, bad, good].map((pet) => pet && pets.create(pet)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(await pets.list({ limit: 10, cursor: 0n })).toHaveLength(3)
})

test('pets of one batch get ascending ids in the order of the calls', async () => {
  const { pets } = await postgresDatabase(await petstore()).open()
  const names = Array.from({ length: 500 }, (_, index) => `pet ${index}`)
  const created = await Promise.all(names.map((name) => pets.create({ name, categoryId: 7n, status: 'sold' })))
  expect(created.map(({ id }) => id)).toEqual(names.map((_, index) => BigInt(index + 1)))
})

describe('the table of idempotency keys', () => {
  const day = 24 * 3_600_000
  const start = new Date('2026-01-01T00:00:00Z')

  test('remembers a key for 24 hours', async () => {
    const { run } = await openCreates()
    await run('a', start)
    expect(await run('a', new Date(start.getTime() + day - 1))).toMatchObject([
      { value: { generated: { id: 1n }, isReplay: true } },
    ])
    expect(await run('a', new Date(start.getTime() + day))).toMatchObject([
      { value: { generated: { id: 2n }, isReplay: false } },
    ])
    expect(await run('a', new Date(start.getTime() + day))).toMatchObject([
      { value: { generated: { id: 2n }, isReplay: true } },
    ])
  })

  test('is swept when new keys are added', async () => {
    const { run, count } = await openCreates()
    for (let i = 0; i < 20; i++) await run(`old ${i}`, start)
    const later = new Date(start.getTime() + day)
    for (let i = 0; i < 20; i++) await run(`new ${i}`, later)
    expect(await count('idempotency_keys')).toBe('20')
    await run('new 0', later)
    expect(await count('idempotency_keys')).toBe('20')
  })

  test('is swept past rows with a time in the future, which are swept when they expire', async () => {
    const { run, count } = await openCreates()
    const time = (days: number) => new Date(start.getTime() + days * day)
    for (let i = 0; i < 10; i++) await run(`future ${i}`, time(10))
    for (let i = 0; i < 10; i++) await run(`old ${i}`, start)
    for (let i = 0; i < 20; i++) await run(`new ${i}`, time(1))
    expect(await count('idempotency_keys')).toBe('30')
    expect(await run('future 0', time(1))).toMatchObject([{ value: { isReplay: true } }])
    for (let i = 0; i < 40; i++) await run(`last ${i}`, time(11))
    expect(await count('idempotency_keys')).toBe('40')
  })

  test('never has a key without its pet, or a pet without its key', async () => {
    const { run, count, url } = await openCreates()
    await query(url, "ALTER TABLE idempotency_keys ADD CONSTRAINT no_a CHECK (key <> 'a')")
    expect(await run('a', start)).toMatchObject([{ error: { message: expect.stringContaining('no_a') } }])
    expect([await count('pets'), await count('idempotency_keys')]).toEqual(['0', '0'])
  })

  async function openCreates() {
    const url = await petstore()
    const { apiKeys } = await postgresDatabase(url).open()
    await apiKeys.create({ name: 'a', start: 'pet_', hash: 'a'.repeat(64), createdAt: start, access: 'write' })
    const pool = openPool(url)
    onTestFinished(() => pool.end())
    const values = ['Rex', 7n, 'sold']
    const commit = prepareMutations(pool, new Failures([]))
    const table = postgresTableOf(pets)
    const call = { operation: 'pets.create', mutation: insertInto(table), table, values }
    return {
      run: (key: string, now: Date) => commit([{ ...call, idempotency: { owner: 1n, key } }], now),
      url,
      count: async (table: string) => (await query(url, `SELECT count(*) FROM ${table}`))[0]?.count,
    }
  }
})

test('the migrations create the columns, constraints and indexes of the schema', async () => {
  const root = join(import.meta.dirname, '../../../..')
  const words = ['export', '--dialect=postgresql', `--schema=${drizzleConfig.schema}`]
  const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/drizzle-kit'), words, { cwd: root })
  const drafted = await emptyDatabase()
  await query(drafted, stdout)
  const made = await petstore()
  await query(made, 'DROP TABLE migrations')
  for (const catalogue of [
    `SELECT table_name, column_name, data_type, datetime_precision, is_nullable, identity_generation
      FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2",
  ]) {
    const seen = await query(made, catalogue)
    expect(seen.length).toBeGreaterThan(5)
    expect(seen).toEqual(await query(drafted, catalogue))
  }
})

describe('a database that cannot be used is refused with the reason and without its password:', () => {
  test('nothing listens', async () => {
    await expect(preparePostgres('postgres://petstore:secret@127.0.0.1:1/petstore')).rejects.toThrow(
      /^The database postgres:\/\/petstore@127.0.0.1:1\/petstore cannot be used: nothing listens there; .+\.$/,
    )
  })

  test.for([
    [
      'it does not exist',
      { pathname: '/nowhere' },
      /database "nowhere" does not exist; create it with CREATE DATABASE/,
    ],
    ['it asks for a password that is missing', { password: '' }, /it asks for a password; set PGPASSWORD/],
    ['it refuses this user', { password: 'wrong' }, /password authentication failed .+; correct the address/],
    ['it has no tables yet', {}, /it has no tables yet: start the service/],
  ] as const)('%s', async ([, change, reason]) => {
    const url = Object.assign(new URL(await emptyDatabase()), change).href
    await expect(preparePostgres(url, { create: false })).rejects.toThrow(reason)
  })

  test.for([
    ['CREATE TABLE pets (x int)', /it has some of the tables, but no table "migrations"; .* choose another database/],
    [
      "CREATE TABLE migrations AS SELECT '9999_future' AS name, 'x' AS hash",
      /migrated by a newer release \(9999_future\)/,
    ],
    ["CREATE TABLE migrations AS SELECT '0000_init' AS name, 'x' AS hash", /the migration 0000_init was changed/],
  ] as const)('%s', async ([statement, reason]) => {
    const url = await emptyDatabase()
    await query(url, statement)
    await expect(preparePostgres(url)).rejects.toThrow(reason)
    expect(await query(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toHaveLength(1)
  })

  test('its encoding is not UTF-8', async () => {
    const url = await createDatabase("ENCODING 'LATIN1' LOCALE 'C'")
    await expect(preparePostgres(url)).rejects.toThrow(/its encoding is LATIN1: make another one/)
  })
})

test('migrations run in order and once, and a failed one rolls back all migrations of that start', async () => {
  const { url } = await connectTo(await emptyDatabase())
  const folder = temporaryFolder()
  const own = new URL('../../../../db/migrations/postgres/0000_init.sql', import.meta.url)
  writeFileSync(join(folder, '0000_init.sql'), readFileSync(own))
  writeFileSync(join(folder, '0001_more.sql'), 'CREATE TABLE more (x int)')
  const reports: unknown[] = []
  const run = async () => {
    const { client } = await connectTo(url)
    const onMigrate = (...report: unknown[]) => void reports.push(report)
    return migrate(
      client,
      { program: 'test', migrations: readMigrations([pathToFileURL(folder)]) },
      { name: 'test', onMigrate },
    )
  }
  await run()
  await run()
  expect(reports).toEqual([[['0000_init', '0001_more'], true]])
  writeFileSync(join(folder, '0002_broken.sql'), 'CREATE TABLE even_more (x int); CREATE TABLE more (x int)')
  await expect(run()).rejects.toThrow('already exists')
  expect(await query(url, "SELECT name FROM migrations WHERE name > '0000_init'")).toEqual([{ name: '0001_more' }])
  expect(await query(url, "SELECT to_regclass('even_more') AS found")).toEqual([{ found: null }])
})

test('the migration that constrains times replaces unreadable times by times that grant no access', async () => {
  const { url, client } = await connectTo(await emptyDatabase())
  await migrate(client, { ...onPostgres, migrations: onPostgres.migrations.slice(0, 1) }, { name: 'test' })
  const times = [
    ["'2026-01-01'", "'infinity'", 'NULL', 'NULL'],
    ["'2026-01-01'", "'2027-01-01'", "'-infinity'", "'infinity'"],
    ["'infinity'", 'NULL', 'NULL', "'2026-01-02'"],
    ["'2026-01-01'", 'NULL', 'NULL', 'NULL'],
  ].map((row, index) => `('key ${index}', 'pet_', '${String(index).repeat(64)}', ${row.join(', ')})`)
  await client.query(`
    INSERT INTO api_keys (name, start, hash, created_at, expires_at, revoked_at, last_used_at) VALUES ${times};
    INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
    VALUES (1, 'a', '${'f'.repeat(64)}', 1, 'infinity'), (1, 'b', '${'f'.repeat(64)}', 1, '2026-01-01')`)
  await preparePostgres(url)
  const [epoch, created] = ['1970-01-01', '2026-01-01'].map((day) => new Date(day))
  const keys = await query(url, 'SELECT created_at, expires_at, revoked_at, last_used_at FROM api_keys ORDER BY id')
  expect(keys.map((key) => Object.values(key))).toEqual([
    [created, epoch, null, null],
    [created, new Date('2027-01-01'), epoch, null],
    [epoch, epoch, null, new Date('2026-01-02')],
    [created, null, null, null],
  ])
  expect(await query(url, 'SELECT created_at FROM idempotency_keys ORDER BY id')).toEqual([
    { created_at: epoch },
    { created_at: created },
  ])
})

test.for(['created_at', 'expires_at', 'revoked_at'])(
  'a key whose %s cannot be read is refused, and shown as such',
  async (column) => {
    const url = await petstore()
    const { rest, store } = await startTestApi({ store: await postgresDatabase(url).open() })
    await query(url, `ALTER TABLE api_keys DROP CONSTRAINT api_keys_${column}_in_range`)
    await query(url, `UPDATE api_keys SET ${column} = 'infinity'`)
    expect(await rest.get('/v1/pets')).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    expect(await describeKeys(await listKeys(store))).toContain(' unreadable')
  },
)

/** A database with the tables of the service. */
async function petstore(): Promise<string> {
  const url = await emptyDatabase()
  await preparePostgres(url)
  return url
}

/** A connection that does not belong to the service. */
async function connectTo(url: string): Promise<{ url: string; client: Client }> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return { url, client }
}
