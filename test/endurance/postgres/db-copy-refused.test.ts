import { existsSync, linkSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { query } from '../../../engine/test/support/postgres/databases.ts'
import { change } from '../../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { slowed } from '../../../engine/test/support/traced.ts'
import {
  addingRows,
  postgresDatabase,
  product,
  sqliteDatabase,
  type TestDatabase,
  unfitFiles,
} from '../../support/petstore.ts'
import {
  addingKeys,
  copy,
  expectEmpty,
  expectRefusal,
  filesBeside,
  fill,
  kinds,
  newDatabase,
  newDatabases,
  nextIds,
  pairs,
  pathOf,
  sampleFile,
  specOf,
  startCopy,
  tablesIn,
  urlOf,
} from '../../support/postgres/copies.ts'

const addingIdempotencyKey = `INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at)
  VALUES (1, 'order-17', 'pets.create', '${'1'.repeat(64)}', '{"id":1}', '2026-01-01T00:00:00.000Z')`

describe('a copy is refused, and neither database changes,', () => {
  test.for(unfitFiles)('from %s', async ([, make, message]) => {
    const { from, to } = await newDatabases('sqlite', 'sqlite')
    make(pathOf(from))
    const before = filesBeside(from)
    await expectRefusal({ from, to }, `The database ${pathOf(from)} cannot be used: ${message}`)
    expect(filesBeside(from)).toEqual(before)
    expect(existsSync(pathOf(to))).toBe(false)
  })

  test('from a missing file', async () => {
    const { from, to } = await newDatabases('sqlite', 'postgres')
    await expectRefusal({ from, to }, `The database ${pathOf(from)} cannot be used: no such file or directory`)
    expect(readdirSync(dirname(pathOf(from)))).toEqual([])
    expect(await tablesIn(to)).toEqual([])
  })

  test.for([
    ['without tables', 'SELECT 1'],
    ['of another program', 'CREATE TABLE pets (id bigint)'],
    ['of another program with a journal of its own', 'CREATE TABLE migrations (id bigint, migration text)'],
  ])('from a PostgreSQL database %s', async ([, sql = '']) => {
    const { from, to } = await newDatabases('postgres', 'sqlite')
    await from.execute(sql)
    const before = await tablesIn(from)
    await expectRefusal({ from, to }, 'does not exist; put it back, or name another database')
    expect(await tablesIn(from)).toEqual(before)
    expect(existsSync(pathOf(to))).toBe(false)
  })

  test.for(kinds)('from or into a %s database of another release', async (kind) => {
    const { from, to } = await newDatabases(kind, 'sqlite')
    const other = await newDatabase('sqlite')
    await fill(other, addingKeys(1))
    await fill(from, 'DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations)')
    const before = await from.rows('migrations')
    await expectRefusal({ from, to }, 'an older release made it; use that release, or back up')
    await expectRefusal({ from: other, to: from }, 'an older release made it; use that release, or back up')
    expect(await from.rows('migrations')).toEqual(before)
    await from.execute("INSERT INTO migrations VALUES ('9999_future', 'x', '2026-01-01T00:00:00.000Z')")
    await expectRefusal({ from, to }, 'it was migrated by a newer release (9999_future)')
    expect(existsSync(pathOf(to))).toBe(false)
  })

  test.for(kinds)('into a %s database that contains rows', async (kind) => {
    const { from, to } = await newDatabases('sqlite', kind)
    await fill(from, addingKeys(1))
    for (const table of ['pets', 'api_keys', 'idempotency_keys'] as const) {
      await fill(to, ...adding(table, kind))
      const before = await to.rows(table)
      await expectRefusal({ from, to }, `its table ${table} contains rows; choose an empty database in --to`)
      expect(before).toHaveLength(1)
      expect(await to.rows(table)).toEqual(before)
      await to.execute('DELETE FROM pets; DELETE FROM api_keys')
    }
  })

  test('from a file into itself, also through a link', async () => {
    const [from, folder] = [sampleFile(), temporaryFolder()]
    symlinkSync(pathOf(from), join(folder, 'symbolic'))
    linkSync(pathOf(from), join(folder, 'hard'))
    const before = filesBeside(from)
    for (const path of [pathOf(from), join(folder, 'symbolic'), join(folder, 'hard')])
      await expectRefusal(
        { from, to: sqliteDatabase(path) },
        `The database ${path} cannot be used: it is also the source of the copy`,
      )
    expect(filesBeside(from)).toEqual(before)
  })

  test.for(pairs)('from $from to $to while a service has the source open', async (pair) => {
    const { from, to } = await newDatabases(pair.from, pair.to)
    await fill(from, addingKeys(2))
    const store = await from.open()
    await store.apiKeys.list()
    await expectRefusal({ from, to }, 'has it open; stop the service and try again')
    await store.close()
    expect((await copy({ from, to })).rows).toEqual({ api_keys: 2 })
  })

  test('from PostgreSQL if a service has opened the source meanwhile', async () => {
    const { from, to } = await newDatabases('postgres', 'sqlite')
    await fill(from, addingRows(3, 'pet'))
    // A thread connects as the service does, while the copy waits.
    const state = new Int32Array(new SharedArrayBuffer(8))
    const code = `
      const { workerData: { connection, state } } = require('node:worker_threads')
      Atomics.wait(state, 0, 0)
      new (require('pg').Client)(connection).connect().then(() => {
        Atomics.store(state, 1, 1)
        Atomics.notify(state, 1)
      })`
    const connection = { connectionString: urlOf(from), application_name: product.command }
    const thread = new Worker(code, { eval: true, workerData: { connection, state } })
    onTestFinished(async () => void (await thread.terminate()))
    const onProgress = () => {
      Atomics.store(state, 0, 1)
      Atomics.notify(state, 0)
      Atomics.wait(state, 1, 0)
    }
    await expectRefusal({ from, to }, 'has it open; stop the service and try again', { onProgress })
    expect(await to.rows('pets')).toEqual([])
  })

  test('from a PostgreSQL database into itself, also through another URL', async () => {
    const from = await newDatabase('postgres')
    await fill(from, addingKeys(1))
    const other = Object.assign(new URL(urlOf(from)), { hostname: 'localhost', search: '?application_name=other' })
    for (const url of [urlOf(from), other.href])
      await expectRefusal(
        { from, to: postgresDatabase(url) },
        'its table api_keys contains rows; choose an empty database in --to, or delete its contents: run TRUNCATE "api_keys", ',
      )
  })

  test('into a PostgreSQL database that another process has locked', async () => {
    const { from, to } = await newDatabases('sqlite', 'postgres')
    await fill(from)
    await fill(to)
    const otherClient = new Client({ connectionString: urlOf(to) })
    await otherClient.connect()
    await otherClient.query('BEGIN; LOCK TABLE api_keys')
    const impatient = postgresDatabase(`${urlOf(to)}?lock_timeout=100`)
    await expectRefusal({ from, to: impatient }, 'another process holds its lock; stop that process')
    await otherClient.end()
  })

  test('into a file of another program', async () => {
    const { from, to } = await newDatabases('sqlite', 'sqlite')
    await fill(from)
    change(pathOf(to), 'CREATE TABLE diary (x)')
    const before = filesBeside(to)
    await expectRefusal({ from, to }, 'it belongs to another program')
    expect(filesBeside(to)).toEqual(before)
  })

  function adding(table: 'pets' | 'api_keys' | 'idempotency_keys', kind: string): string[] {
    if (table === 'pets') return [addingRows(1, 'old')]
    if (table === 'api_keys') return [addingKeys(1, 'old')]
    // PostgreSQL checks the foreign key unless the session is a replica's.
    if (kind === 'sqlite') return [`PRAGMA foreign_keys = OFF; ${addingIdempotencyKey}`]
    return ["SET session_replication_role = 'replica'; ".concat(addingIdempotencyKey)]
  }
})

describe('a copy that fails leaves the target empty, and can be repeated,', () => {
  test.for(pairs)('from $from to $to, when the target refuses a row', async (pair) => {
    const { from, to } = await newDatabases(pair.from, pair.to)
    await fill(from, addingRows(30, 'pet'), addingKeys(2))
    await fill(to, meddling(pair.to, 'refuse'))
    const row = pair.to === 'sqlite' ? 'the row 14' : 'one of the rows 13 to 16'
    const reason = `it refused ${row} of pets: not this one; correct or delete that row in `
    await expectRefusal({ from, to }, reason, { batchSize: 4 })
    await expectEmpty(to)
    await to.execute(`DROP TRIGGER meddle ${pair.to === 'sqlite' ? '' : 'ON pets'}`)
    expect((await copy({ from, to })).rows).toEqual({ api_keys: 2, pets: 30 })
    expect(await nextIds(to)).toEqual([31n, 3n])
  })

  test.for(
    kinds.flatMap((kind) => [{ kind, how: 'altered', rows: 30 } as const, { kind, how: 'lost', rows: 29 } as const]),
  )('into $kind, when a row is $how', async ({ kind, how, rows }) => {
    const { from, to } = await newDatabases('sqlite', kind)
    await fill(from, addingRows(30, 'pet'), addingKeys(2))
    await fill(to, meddling(kind, how))
    const reason = `the copy of table pets has ${rows} rows instead of 30 and SHA-256 `
    await expectRefusal({ from, to }, reason, { batchSize: 4 })
    await expectEmpty(to)
    expect(await nextIds(to)).toEqual([1n, 1n])
  })

  test('when PostgreSQL refuses a value of the source', async () => {
    const { from, to } = await newDatabases('sqlite', 'postgres')
    await fill(from, addingIdempotencyKey, "UPDATE idempotency_keys SET key = 'a' || char(0)")
    await expectRefusal({ from, to }, 'it refused one of the rows 1 to 1 of idempotency_keys: invalid byte sequence ')
    await expectEmpty(to)
  })

  test.for(kinds)('into %s, when a time in PostgreSQL is out of range', async (kind) => {
    const { from, to } = await newDatabases('postgres', kind)
    await fill(from, addingKeys(1), 'ALTER TABLE api_keys DROP CONSTRAINT api_keys_expires_at_in_range')
    for (const time of ['infinity', '0044-03-15 BC', '10000-01-01', '294000-01-01']) {
      await from.execute(`UPDATE api_keys SET expires_at = '${time}'`)
      await expectRefusal(
        { from, to },
        `it refused ${kind === 'sqlite' ? 'the row 1' : 'one of the rows 1 to 1'} of api_keys: `,
      )
      await expectEmpty(to)
    }
  })

  test.for(['from', 'to'] as const)('when the connection %s PostgreSQL is lost', async (lost) => {
    const databases = await (lost === 'from' ? newDatabases('postgres', 'sqlite') : newDatabases('sqlite', 'postgres'))
    await fill(databases.from, addingRows(1_000, 'pet'))
    const url = urlOf(databases[lost])
    let cut: Promise<unknown> | undefined
    const onProgress = () => {
      cut ??= query(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'petstore'",
      )
    }
    // PostgreSQL tells why it ends the connection, unless the driver notices the loss first.
    const reason = /terminating connection|the connection was lost|; check PostgreSQL and the network/
    await expectRefusal(databases, reason, { batchSize: 1, onProgress })
    await cut
    await expectEmpty(databases.to)
  })

  test.for(kinds)('into %s, when its process is killed while it writes', async (kind) => {
    const { from, to } = await newDatabases(kind === 'sqlite' ? 'postgres' : 'sqlite', kind)
    await fill(from, addingRows(10_000, 'pet'), addingKeys(1))
    await fill(to)
    // Each turn of its event loop takes longer.
    const run = startCopy(temporaryFolder(), specOf(from), specOf(to), slowed('epoll_pwait', 50))
    await expect.poll(() => isBeingWritten({ from, to }), { interval: 5 }).toBe(true)
    run.child.kill('SIGKILL')
    expect(await run.ended).toBe('SIGKILL')
    await expectEmpty(to)
    expect((await copy({ from, to })).rows).toEqual({ api_keys: 1, pets: 10_000 })
  })
})

/** Whether the copy has inserted a row and not committed it. The API keys are copied before the first pet is read. */
async function isBeingWritten({ from, to }: { from: TestDatabase; to: TestDatabase }): Promise<boolean> {
  const [url, condition] =
    to.location.kind === 'postgres'
      ? [urlOf(to), 'backend_xid IS NOT NULL']
      : [urlOf(from), `application_name = 'petstore' AND query LIKE '%FROM "pets"%WHERE%"id" >=%'`]
  const sessions = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  return (await query(url, `${sessions} AND ${condition}`)).length > 0
}

/** Adds a trigger that changes the fourteenth pet that is inserted. */
function meddling(kind: 'sqlite' | 'postgres', how: 'refuse' | 'altered' | 'lost'): string {
  if (kind === 'sqlite') {
    const action = {
      refuse: "SELECT RAISE(ABORT, 'not this one')",
      altered: "UPDATE pets SET status = iif(status = 'sold', 'pending', 'sold') WHERE id = NEW.id",
      lost: 'DELETE FROM pets WHERE id = NEW.id',
    }
    return `CREATE TRIGGER meddle AFTER INSERT ON pets WHEN NEW.id = 14 BEGIN ${action[how]}; END`
  }
  const action = {
    refuse: "RAISE EXCEPTION 'not this one' USING ERRCODE = 'check_violation'",
    altered: "NEW.status := CASE NEW.status WHEN 'sold' THEN 'pending' ELSE 'sold' END",
    lost: 'RETURN NULL',
  }
  return `
    CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.id = 14 THEN ${action[how]}; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER meddle BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION meddle()`
}
