import { getTableName, type Table } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { TableWithId as PostgresTable } from '../../db/postgres/resource.ts'
import { searchStatement as searchOnPostgres } from '../../db/postgres/search.ts'
import { pageStatement as pageOnPostgres } from '../../db/postgres/statements.ts'
import { columnOf, type SearchFields, type SearchQuery } from '../../db/resource.ts'
import { type Search, searchWith } from '../../db/search.ts'
import type { TableWithId as SqliteTable } from '../../db/sqlite/resource.ts'
import { searchStatement as searchOnSqlite } from '../../db/sqlite/search.ts'
import { pageStatement as pageOnSqlite } from '../../db/sqlite/statements.ts'
import { type Procedure, proceduresOf } from '../../server/api/procedures.ts'
import { itemSource } from '../../server/ops/transfer/seed.ts'
import { appRouter } from '../../server/router.ts'
import { resources as withFixture } from '../fixture/resources.ts'
import { fixtureRouter } from '../fixture/router.ts'
import { newDatabase } from '../fixture/support.ts'
import { isOnPostgres, openDatabase, openTestStore } from '../support/database.ts'
import { contextWith } from '../support/own-router.ts'
import { query } from '../support/postgres/databases.ts'
import { onPostgres, onSqlite } from '../support/resources.ts'

const resources: Record<string, { filters: readonly string[] }> = (isOnPostgres ? onPostgres : onSqlite).resources
const procedures = new Map(proceduresOf(appRouter).map((procedure) => [procedure.name, procedure]))
const lists = [...procedures.values()]
  .filter(({ name }) => name.endsWith('.list'))
  .map((list) => ({ resource: list.name.replace(/\.list$/, ''), list, filters: filtersOf(list) }))

test('the filters of each resource are the optional parameters of its list', () => {
  expect(lists.some(({ filters }) => filters.length > 0)).toBe(true)
  const filters = Object.entries(resources).map(([name, { filters }]) => [name, filters.toSorted()])
  const parameters = new Map(lists.map(({ resource, filters }) => [resource, filters.toSorted()]))
  expect(filters).toEqual(Object.keys(resources).map((name) => [name, parameters.get(name) ?? []]))
})

test.for(lists)(
  'each filter of the list of $resource returns only the rows with its value',
  async ({ resource, list, filters }) => {
    const create = procedures.get(`${resource}.create`)
    const [newItem] = create?.inputs ?? []
    const { output } = list
    if (!(newItem instanceof z.ZodObject && output instanceof z.ZodArray && output.element instanceof z.ZodObject)) {
      throw new Error(`${resource} has no procedure that creates the rows.`)
    }
    const store = await openTestStore()
    const ctx = contextWith(store)
    const next = await itemSource({ item: output.element, newItem }, 1)
    for (let row = 0; row < 40; row++) await create?.call(next(), ctx)
    const all = await list.call({ limit: 100 }, ctx)
    if (!isRows(all)) throw new Error(`The list of ${resource} is no array of objects.`)
    expect(all).toHaveLength(40)
    for (const filter of filters) {
      const values = [...new Set(all.map((row) => row[filter]))].filter((value) => value !== undefined)
      expect(values.length, filter).toBeGreaterThan(1)
      const pages = await Promise.all(values.map((value) => list.call({ limit: 100, [filter]: value }, ctx)))
      expect(pages).toEqual(values.map((value) => all.filter((row) => row[filter] === value)))
    }
  },
)

const [tablesOnSqlite, tablesOnPostgres] = await Promise.all([withFixture.forSqlite(), withFixture.forPostgres()])
const pages = Object.entries(tablesOnSqlite.resources)
  .filter(([, { filters }]) => filters.length > 0)
  .flatMap(([resource, { filters }]) => [undefined, ...filters].map((filter) => ({ resource, filter })))

test.for(pages)(
  'the list of $resource by $filter searches an index, and needs no sort',
  async ({ resource, filter }) => {
    const database = await newDatabase()
    await database.open()
    const { location } = database
    if (location.kind === 'sqlite') expectIndexOnSqlite(location.path, resource, filter)
    else await expectIndexOnPostgres(location.url, resource, filter)
  },
)

const searches = Object.entries(tablesOnSqlite.resources).flatMap(([resource, { search }]) =>
  search ? [{ resource, search }] : [],
)

test('the fields of each search are the optional parameters of its procedure', () => {
  const parameters = proceduresOf(fixtureRouter)
    .filter(({ name }) => name.endsWith('.search'))
    .map((procedure) => [procedure.name, filtersOf(procedure).toSorted()])
  expect(parameters).toEqual(
    searches.map(({ resource, search: { within, by } }) => [
      `${resource}.search`,
      ['id', ...within, ...Object.keys(by)].toSorted(),
    ]),
  )
})

const plans = searches.flatMap(({ resource, search }) =>
  [undefined, 'id', ...Object.keys(search.by)].flatMap((field) =>
    [[], search.within].flatMap((filters) =>
      (['newest', 'oldest'] as const).map((order) => ({ resource, field, filters, order })),
    ),
  ),
)

test.for(plans)(
  'the search of $resource by $field and $filters reads ranges of an index in their order, $order first',
  async ({ resource, field, filters, order }) => {
    const { location, open } = await newDatabase()
    await open()
    const { table, search: fields } = tablesOnSqlite.resources[resource] ?? {}
    const other = tablesOnPostgres.resources[resource]?.table
    if (!table || !other || !fields) throw new Error(`There is no resource ${resource}.`)
    const given = Object.fromEntries([field, ...filters].flatMap((name) => (name === undefined ? [] : [[name, 'a']])))
    const search = await preparedSearch(table, fields, { ...given, order, limit: 1 })
    if (location.kind === 'sqlite') expectRangesOnSqlite(location.path, table, search)
    else await expectRangesOnPostgres(location.url, other, search)
  },
)

/** The search as the engines run it. */
async function preparedSearch(
  ...[table, fields, query]: [SqliteTable, SearchFields, SearchQuery<Table, SearchFields>]
) {
  const run = Promise.withResolvers<Search>()
  await searchWith(
    table,
    fields,
    async () => undefined,
    async (search) => {
      run.resolve(search)
      return []
    },
  )(query)
  return run.promise
}

function expectRangesOnSqlite(path: string, table: SqliteTable, search: Search): void {
  const { sql, params } = searchOnSqlite(table, search).toSQL()
  const plan = openDatabase(path)
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(params.map(() => 1))
  const equal = search.filters.map((name) => `${columnOf(table, name).name}=\\? AND `).join('')
  const field = search.by && columnOf(table, search.by.field).name
  const texts = [String.raw`<expr>=\? AND id[<>]\?`, String.raw`<expr>>\? AND <expr><\?`].map(
    (range) => `${equal}${range}`,
  )
  const ids = `${field === undefined ? equal : `${equal}${field}=\\? AND `}rowid[<>]\\?`
  const ranges = search.by?.kind === 'beginning' ? texts : [field === 'id' ? String.raw`rowid=\?` : ids]
  const index = String.raw`(INDEX \w+|INTEGER PRIMARY KEY)`
  // A scan is of the rows of the ranges, which are sorted: each read of the table itself is a search.
  const reads = plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SEARCH'))
  expect(reads).toEqual(
    search.wanted.flatMap(() =>
      ranges.map((range) => expect.stringMatching(`^SEARCH ${getTableName(table)} USING ${index} \\(${range}\\)$`)),
    ),
  )
}

async function expectRangesOnPostgres(url: string, table: PostgresTable, search: Search): Promise<void> {
  const nodes = await explain(url, searchOnPostgres(table, search).text)
  const range = nodes.slice(nodes.findLastIndex((node) => node['Node Type'] === 'Limit'))
  expect(range.map((node) => node['Node Type'])).toEqual(['Limit', expect.stringMatching(/^Index (Only )?Scan$/)])
  const condition = range[1]?.['Index Cond']
  const columns = [...search.filters, ...(search.by ? [search.by.field] : []), 'id'].map(
    (name) => columnOf(table, name).name,
  )
  for (const column of columns) expect(condition).toMatch(new RegExp(`\\b${column}\\b`))
  expect(range[1]).not.toHaveProperty('Filter')
}

function expectIndexOnSqlite(path: string, resource: string, filter: string | undefined): void {
  const { table } = tablesOnSqlite.resources[resource] ?? {}
  if (!table) throw new Error(`There is no resource ${resource}.`)
  const { sql, params } = pageOnSqlite(table, filter === undefined ? [] : [filter]).toSQL()
  const plan = openDatabase(path).prepare(`EXPLAIN QUERY PLAN ${sql}`)
  const index =
    filter === undefined
      ? String.raw`INTEGER PRIMARY KEY \(rowid>\?\)`
      : String.raw`(COVERING )?INDEX \w+ \(${columnOf(table, filter).name}=\? AND rowid>\?\)`
  // A temporary sort would be a second row (https://sqlite.org/eqp.html).
  expect(plan.all(params.map(() => 1))).toEqual([
    expect.objectContaining({ detail: expect.stringMatching(`^SEARCH ${getTableName(table)} USING ${index}$`) }),
  ])
}

/** The part of a plan of PostgreSQL that the test reads. */
interface PlanNode {
  'Node Type': string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

async function expectIndexOnPostgres(url: string, resource: string, filter = 'id'): Promise<void> {
  const { table } = tablesOnPostgres.resources[resource] ?? {}
  if (!table) throw new Error(`There is no resource ${resource}.`)
  const all = await explain(url, pageOnPostgres(table, filter === 'id' ? [] : [filter]).text)
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

/** The optional parameters of a list or a search, except for those of the page. */
function filtersOf({ inputs: [input] }: Procedure): string[] {
  const schema = input instanceof z.ZodPrefault ? input.unwrap() : input
  if (!(schema instanceof z.ZodObject)) throw new Error('The input of a list or a search is an object.')
  const fields = Object.entries<z.ZodType>(schema.shape)
  return fields
    .filter(([name, field]) => field.isOptional() && !['limit', 'order', 'cursor'].includes(name))
    .map(([name]) => name)
}

function isRows(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value)
}
