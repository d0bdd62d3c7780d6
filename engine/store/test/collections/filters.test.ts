import { getTableName } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { notesDatabase, onPostgres, onSqlite, openTestStore, testDatabase } from '../../../test/notes/database.ts'
import type { Book } from '../../../test/notes/tables.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { query } from '../../../test/support/postgres/databases.ts'
import type { PageOrder } from '../../collection/query.ts'
import { columnOf } from '../../collection/row.ts'
import { pageStatement as pageOnPostgres } from '../../postgres/statements.ts'
import { pageStatement as pageOnSqlite, sqlTextOf } from '../../sqlite/statements.ts'

test('concurrent lists get the rows with the values of their filters, whatever these hold', async () => {
  const database = await testDatabase()
  const { books } = await database.open()
  const shelves = ['a', 'a,b', 'b,a', '","', "'", '["a"]', 'null', 'true', '\\']
  const sizes = [0n, 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n)]
  const times = [0, 1, 2, 1000].map((milliseconds) => new Date(Date.UTC(2026, 1, 3, 4, 5, 6) + milliseconds))
  const creates = Array.from({ length: 40 }, (_, index) => {
    const [shelf, pages] = [shelves[index % shelves.length], sizes[index % sizes.length]]
    return books.create({ title: `${index}`, shelf, pages, isLent: index % 3 === 0 })
  })
  const updates = (await Promise.all(creates)).map(
    ({ id }, index) => `UPDATE books SET added_at = '${times[index % times.length]?.toISOString()}' WHERE id = ${id}`,
  )
  await database.execute(updates.join(';'))
  const all = await books.list({ limit: 100 })
  expect(new Set(all.map(({ addedAt }) => addedAt.getTime()))).toEqual(new Set(times.map(Number)))
  // Few limits and cursors, so that many reads differ only by their filters.
  const page = { limit: fc.constantFrom(4, 50), cursor: fc.constantFrom(0n, 7n) }
  const filters = {
    shelf: fc.constantFrom(...shelves, 'b'),
    isLent: fc.boolean(),
    pages: fc.constantFrom(...sizes, 2n),
    addedAt: fc.constantFrom(...times, new Date(Number(times[0]) + 3)),
  }
  const query = fc.oneof(
    fc.record({ ...page, addedAt: filters.addedAt }),
    fc.record({ ...page, shelf: filters.shelf }),
    fc.record({ ...page, ...filters }, { requiredKeys: ['limit'] }),
  )
  const expected = ({ limit, cursor, ...wanted }: Parameters<typeof books.list>[0]) =>
    all
      .filter((row) => row.id > (cursor ?? 0n))
      .filter(({ shelf }) => wanted.shelf === undefined || shelf === wanted.shelf)
      .filter(({ isLent }) => wanted.isLent === undefined || isLent === wanted.isLent)
      .filter(({ pages }) => wanted.pages === undefined || pages === wanted.pages)
      .filter(({ addedAt }) => wanted.addedAt === undefined || Number(addedAt) === Number(wanted.addedAt))
      .slice(0, limit)
  await fc.assert(
    fc.asyncProperty(fc.array(query, { minLength: 1, maxLength: 30, size: 'max' }), async (queries) => {
      expect(await Promise.all(queries.map((each) => books.list(each)))).toEqual(queries.map(expected))
    }),
    { numRuns: 8 },
  )
})

test('a search combines texts with filters, of which the database applies one', async () => {
  const { books } = await openTestStore()
  const rows: Book[] = []
  for (const [index, title] of ['Zoo', 'the zoo', 'Zo', 'AZO', 'A', 'zo_', 'zoe'].entries()) {
    const author = index === 1 ? undefined : `author ${index}`
    rows.push(await books.create({ title, author, pages: BigInt(index % 2), isLent: index < 4 }))
  }
  const titlesOf = async (query: Partial<Parameters<typeof books.search>[0]>) =>
    (await books.search({ limit: 100, order: 'newest', ...query })).items.map(({ title }) => title)
  expect((await books.search({ limit: 100, order: 'oldest' })).items).toEqual(rows)
  expect(await titlesOf({ pages: 1n })).toEqual(['zo_', 'AZO', 'the zoo'])
  expect(await titlesOf({ pages: 1n, isLent: true })).toEqual(['AZO', 'the zoo'])
  expect(await titlesOf({ title: 'zO' })).toEqual(['zoe', 'zo_', 'AZO', 'Zo', 'the zoo', 'Zoo'])
  expect(await titlesOf({ title: 'zO', isLent: true, pages: 0n })).toEqual(['Zo', 'Zoo'])
  expect(await titlesOf({ title: 'o', author: '3' })).toEqual(['AZO'])
  const ofTime = { author: 'author', addedAt: rows[2]?.addedAt, title: 'zo', order: 'oldest' } as const
  expect(await titlesOf(ofTime)).toContain('Zo')
  expect(await titlesOf({ id: 2n, title: 'zoo' })).toEqual(['the zoo'])
  expect(await titlesOf({ id: 2n, author: 'd' })).toEqual([])
})

const pages = Object.entries<{ filters: readonly string[] }>(onSqlite.collections)
  .filter(([, { filters }]) => filters.length > 0)
  .flatMap(([name, { filters }]) => [undefined, ...filters].map((filter) => ({ name, filter })))
  .flatMap((page) => (['oldest', 'newest'] as const).map((order) => ({ ...page, order })))

test.for(pages)(
  'a page of $name by $filter, $order first, searches an index, and needs no sort',
  async ({ name, filter, order }) => {
    const database = await notesDatabase()
    await database.open()
    const { location } = database
    if (location.kind === 'sqlite') expectIndexOnSqlite(location.path, name, filter, order)
    else await expectIndexOnPostgres(location.url, name, filter, order)
  },
)

function expectIndexOnSqlite(path: string, name: string, filter: string | undefined, order: PageOrder): void {
  const { table } = onSqlite.collections[name] ?? {}
  if (!table) throw new Error(`There is no collection ${name}.`)
  const page = sqlTextOf(pageOnSqlite(table, filter === undefined ? [] : [filter], order))
  const plan = openDatabase(path).prepare(`EXPLAIN QUERY PLAN ${page}`)
  const index =
    filter === undefined
      ? String.raw`INTEGER PRIMARY KEY \(rowid[<>]\?\)`
      : String.raw`(COVERING )?INDEX \w+ \(${columnOf(table, filter).name}=\? AND rowid[<>]\?\)`
  // A temporary sort would be a second row (https://sqlite.org/eqp.html).
  expect(plan.all([...page.matchAll(/\?/g)].map(() => 1))).toEqual([
    expect.objectContaining({ detail: expect.stringMatching(`^SEARCH ${getTableName(table)} USING ${index}$`) }),
  ])
}

/** The part of a plan of PostgreSQL that the test reads. */
interface PlanNode {
  'Node Type': string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

async function expectIndexOnPostgres(url: string, name: string, filter = 'id', order: PageOrder): Promise<void> {
  const { table } = onPostgres.collections[name] ?? {}
  if (!table) throw new Error(`There is no collection ${name}.`)
  const all = await explain(url, pageOnPostgres(table, filter === 'id' ? [] : [filter], order).text)
  const page = all.find((node) => node['Node Type'] === 'Limit')
  const nodes = page ? nodesOf(page) : []
  expect(nodes.map((node) => node['Node Type'])).toEqual(['Limit', expect.stringMatching(/^Index (Only )?Scan$/)])
  expect(nodes[1]?.['Index Cond']).toMatch(new RegExp(`\\b${columnOf(table, filter).name}\\b`))
}

/** The nodes of the plan of a statement. */
async function explain(url: string, statement: string): Promise<PlanNode[]> {
  // PostgreSQL would read a table without rows as a whole.
  const off = ['seqscan', 'bitmapscan', 'sort', 'incremental_sort'].map((name) => `-c enable_${name}=off`).join(' ')
  const search = `?options=${encodeURIComponent(off)}`
  const indexed = Object.assign(new URL(url), { search }).href
  const rows = await query(indexed, `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`)
  // The type of the output (https://www.postgresql.org/docs/current/sql-explain.html).
  const plans = rows.flatMap((row) => row['QUERY PLAN'] as { Plan: PlanNode }[])
  return plans.flatMap(({ Plan: root }) => nodesOf(root))
}

/** The node and those below it. */
function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
