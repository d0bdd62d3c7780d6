import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { auditLinesIn } from '../../../engine/test/support/log-lines.ts'
import { createRole, emptyDatabase, query } from '../../../engine/test/support/postgres/databases.ts'
import { change, leaveLog } from '../../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { addingRows, commandLine, makeDatabase, tableNames } from '../../support/petstore.ts'
import {
  addingKeys,
  contentOf,
  copy,
  filesBeside,
  fill,
  kinds,
  nameOf,
  newDatabase,
  newDatabases,
  nextIds,
  pairs,
  pathOf,
  sampleFile,
  specOf,
  startCopy,
  urlOf,
} from '../../support/postgres/copies.ts'

describe('a copy', () => {
  test.for(pairs)('from $from to $to contains every row, with exact integers', async (pair) => {
    const [original, last] = [sampleFile(), await newDatabase('sqlite')]
    const { from, to } = await newDatabases(pair.from, pair.to)
    const first = await copy({ from: original, to: from }, { batchSize: 3 })
    const second = await copy({ from, to }, { batchSize: 4 })
    const third = await copy({ from: to, to: last })
    expect(contentOf(last)).toEqual(contentOf(original))
    expect(first.rows).toEqual({ api_keys: 3, pets: 7, idempotency_keys: 2, history: 2 })
    expect([second, third]).toEqual([first, first])
  })

  test.for(kinds)('never assigns an id again that %s assigned before it was emptied', async (kind) => {
    const { from, to } = await newDatabases('sqlite', kind)
    await fill(from, addingRows(2, 'pet'), addingKeys(1))
    await fill(to, addingRows(9, 'pet'), addingKeys(3), 'DELETE FROM pets', 'DELETE FROM api_keys')
    await copy({ from, to })
    expect(await nextIds(to)).toEqual([10n, 4n])
  })

  test('from PostgreSQL is a snapshot that excludes the changes of other programs during the copy', async () => {
    const { from, to } = await newDatabases('postgres', 'postgres')
    await fill(from, addingRows(500, 'pet'))
    let changed: Promise<unknown> | undefined
    const onProgress = () => {
      changed ??= from.execute("DELETE FROM pets WHERE id > 250; UPDATE pets SET status = 'sold'")
    }
    expect((await copy({ from, to }, { batchSize: 5, onProgress })).rows).toEqual({ pets: 500 })
    await changed
    expect(await query(urlOf(to), 'SELECT DISTINCT status FROM pets')).toEqual([{ status: 'available' }])
    expect(await from.rows('pets')).toHaveLength(250)
  })

  test.for([0, 500])(
    'of %i pets makes other writers to the PostgreSQL database wait until it is complete',
    async (count) => {
      const { from, to } = await newDatabases('sqlite', 'postgres')
      await fill(from, addingRows(500, 'pet'), addingKeys(100), `DELETE FROM pets WHERE id > ${count}`)
      await fill(to)
      const writes: Promise<unknown>[] = []
      const onProgress = () => {
        if (writes.length === 0) writes.push(to.execute(addingRows(1, 'later')), to.execute(addingKeys(1, 'later')))
      }
      const { rows } = await copy({ from, to }, { batchSize: 2, onProgress })
      expect(rows).toEqual({ api_keys: 100, ...(count > 0 && { pets: count }) })
      await Promise.all(writes)
      expect(await query(urlOf(to), "SELECT id FROM pets WHERE name = 'later 1'")).toEqual([{ id: '501' }])
      expect(await query(urlOf(to), "SELECT id FROM api_keys WHERE name = 'later 0'")).toEqual([{ id: '101' }])
    },
  )
})

describe('the source of a copy', () => {
  test('may have the log of a killed service, which is then in the database', async () => {
    const { from, to } = await newDatabases('sqlite', 'postgres')
    await fill(from, addingRows(2, 'pet'))
    leaveLog(pathOf(from), addingRows(1, 'logged'))
    await copy({ from, to })
    expect(Object.keys(filesBeside(from))).not.toContain('petstore.db-wal')
    for (const database of [from, to]) expect((await database.rows('pets')).at(-1)).toMatchObject({ name: 'logged 1' })
  })

  test('in SQLite cannot be changed by other programs during the copy', async () => {
    const { from, to } = await newDatabases('sqlite', 'sqlite')
    await fill(from, addingRows(50, 'pet'))
    const changes: Promise<unknown>[] = []
    const onProgress = () => void changes.push(from.execute('DELETE FROM pets').catch(String))
    await copy({ from, to }, { batchSize: 50, onProgress })
    expect(new Set(await Promise.all(changes))).toEqual(new Set(['SqliteError: database is locked']))
  })

  test.for(kinds)('may be a read-only database in %s', async (kind) => {
    const { from, to } = await newDatabases(kind, 'sqlite')
    await fill(from, addingRows(3, 'pet'))
    if (kind === 'sqlite') change(pathOf(from), 'PRAGMA journal_mode = DELETE')
    else await from.execute(`ALTER DATABASE ${nameOf(from)} SET default_transaction_read_only = on`)
    expect((await copy({ from, to })).rows).toEqual({ pets: 3 })
  })
})

describe('the command', () => {
  test('prints what both databases contain, no password, and no progress in a pipe', async () => {
    const [folder, from, to] = [temporaryFolder(), sampleFile(), await newDatabase('postgres')]
    const owner = await createRole(urlOf(to))
    await to.execute(`ALTER ROLE ${owner.role} PASSWORD 'hush@'; ALTER DATABASE ${nameOf(to)} OWNER TO ${owner.role}`)
    const url = Object.assign(new URL(owner.url), { password: 'hush%40' }).href
    const subject = url.replace(':hush%40', '')
    const run = startCopy(folder, specOf(from), url)
    expect(await run.ended).toBe(0)
    const rows: Record<string, number> = { api_keys: 3, pets: 7, idempotency_keys: 2, history: 2 }
    expect(run.stdout.split('\n')).toEqual([
      `Copied ${pathOf(from)} to ${subject}. After reading back, both contain:`,
      ...tableNames.map((table) =>
        expect.stringMatching(new RegExp(`^  ${table}: ${rows[table] ?? 0} rows, SHA-256 [0-9a-f]{12}…$`)),
      ),
      '',
    ])
    expect(auditLinesIn(run.stderr)).toMatchObject([
      { action: 'database.migrate', subject, migrations: expect.arrayContaining(['0000_init']) },
      { action: 'database.copy', subject, from: pathOf(from), rows: 14 },
    ])
    expect(run.stderr).not.toContain('hush')
    const back = join(folder, 'b.db')
    const copied = startCopy(folder, url, `file:${back}`)
    expect(await copied.ended, copied.stderr).toBe(0)
    expect(copied.stdout).toContain(`Copied ${subject} to ${back}. After reading back, both contain:\n`)
  })

  test('prints a failure as one line without a password', async () => {
    const [folder, url] = [temporaryFolder(), await emptyDatabase()]
    const wrong = Object.assign(new URL(url), { password: 'hush%40' }).href
    makeDatabase(join(folder, 'a.db'), 1)
    for (const [from, to, exitCode, message] of [
      ['file:a.db', wrong, 1, /^The database postgres:\S+ cannot be used: password authentication failed .+\.\n$/],
      ['postgres://u:hush@host:port/a', 'file:b.db', 2, /^--from: expected a file, .+\.\n$/],
      ['postgres://u:hush@localhost:1/a', 'file:b.db', 1, /u@localhost:1\/a cannot be used: nothing .+\.\n$/],
      ['file:a.db', 'mysql://u:hush@host/a', 2, /^--to: expected a file, .+\.\n$/],
      ['file:a.db', '', 2, /^--to: expected a file, .+\.\n$/],
    ] as const) {
      const run = startCopy(folder, from, to)
      expect([await run.ended, run.stdout]).toEqual([exitCode, ''])
      expect(run.stderr).toMatch(message)
      expect(run.stderr).not.toContain('hush')
    }
    expect(readdirSync(folder)).toEqual(['a.db'])
  })

  if (spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0) {
    test('shows its progress on a terminal, and clears it at the end', () => {
      const folder = temporaryFolder()
      makeDatabase(join(folder, 'a.db'), 1_500)
      const words = [...commandLine, 'db', 'copy', '--from', 'file:a.db', '--to', 'file:b.db']
      const command = `${words.map((word) => `'${word}'`).join(' ')} > printed`
      const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
      const steps = ['Copied', 'Compared'].flatMap((step) => [
        `${step} 1000 of 1500 rows of pets (66 %)`,
        `${step} 1500 of 1500 rows of pets (100 %)`,
      ])
      const progress = ['', ...steps, ''].join('\r').replaceAll(/(?<=\))|$/g, '\x1b[K')
      const [migrated = '', copied = ''] = stdout.split(progress)
      expect(migrated).toContain('database.migrate')
      expect(copied).toContain('database.copy')
      expect(readFileSync(join(folder, 'printed'), 'utf8')).toContain('  pets: 1500 rows, SHA-256 ')
    })
  }
})
