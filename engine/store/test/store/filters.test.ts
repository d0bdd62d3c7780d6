import { getTableName } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { appRouter } from '../../../../server/router.ts'
import { fixtureRouter } from '../../../../test/fixture/service/router.ts'
import { definition as withFixture } from '../../../../test/fixture/service/store.ts'
import { newDatabase } from '../../../../test/fixture/service/support.ts'
import { isOnPostgres, openDatabase, openTestStore } from '../../../../test/support/database.ts'
import { onPostgres, onSqlite } from '../../../../test/support/engines.ts'
import { contextWith } from '../../../../test/support/own-router.ts'
import { query } from '../../../../test/support/postgres/databases.ts'
import { listParameters } from '../../../../test/support/store-sequences.ts'
import { type Procedure, proceduresOf } from '../../../service/procedures/procedures.ts'
import type { Field } from '../../../service/reader/fields.ts'
import { fieldsOf } from '../../../service/transfer/fields.ts'
import type { Order } from '../../collection/query.ts'
import { columnOf } from '../../collection/row.ts'
import { pageStatement as pageOnPostgres } from '../../postgres/statements.ts'
import { pageStatement as pageOnSqlite, textOf } from '../../sqlite/statements.ts'

const collections: Record<string, { filters: readonly string[] }> = (isOnPostgres ? onPostgres : onSqlite).collections
const procedures = new Map(proceduresOf(appRouter).map((procedure) => [procedure.name, procedure]))
const lists = [...procedures.values()]
  .filter(({ name }) => name.endsWith('.list'))
  .map((list) => ({ resource: list.name.replace(/\.list$/, ''), list, filters: filtersOf(list) }))

test('the filters of each resource are the optional parameters of its list', () => {
  expect(lists.some(({ filters }) => filters.length > 0)).toBe(true)
  const filters = Object.entries(collections).map(([name, { filters }]) => [name, filters.toSorted()])
  const parameters = new Map(lists.map(({ resource, filters }) => [resource, filters.toSorted()]))
  const remedy = 'Write the same names in filters of the collection in db/, and in the input of the list in server/.'
  expect(filters, remedy).toEqual(Object.keys(collections).map((name) => [name, parameters.get(name) ?? []]))
})

test('the random sequences of calls use every filter of pets', () => {
  const filters = collections.pets?.filters ?? []
  expect(filters.length).toBeGreaterThan(0)
  const remedy = 'Add it to listParameters in test/support/store-sequences.ts, and to the list in store-model.ts.'
  expect(
    filters.filter((name) => !(name in listParameters)),
    remedy,
  ).toEqual([])
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
    const fields = fieldsOf({ item: output.element, newItem }).filter(({ presence }) => presence !== 'generated')
    for (let row = 0; row < 40; row++) {
      const given = fields.filter(({ name }) => row % 3 > 0 || !newItem.shape[name].safeParse(undefined).success)
      await create?.call(Object.fromEntries(given.map((field) => [field.name, sampleOf(field, row)])), ctx)
    }
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

/** One of a few values that a field may have. */
function sampleOf({ kind, choices = {} }: Field, row: number): unknown {
  const number = row % 8
  const values = Object.keys(choices)
  const ofKind = {
    id: undefined,
    integer: BigInt(number),
    boolean: number % 2 === 0,
    time: new Date(number),
    choice: values[row % values.length],
    text: `value ${number}`,
  }
  return ofKind[kind]
}

const [tablesOnSqlite, tablesOnPostgres] = await Promise.all([withFixture.forSqlite(), withFixture.forPostgres()])
const pages = Object.entries(tablesOnSqlite.collections)
  .filter(([, { filters }]) => filters.length > 0)
  .flatMap(([resource, { filters }]) => [undefined, ...filters].map((filter) => ({ resource, filter })))
  .flatMap((page) => (['oldest', 'newest'] as const).map((order) => ({ ...page, order })))

test.for(pages)(
  'a page of $resource by $filter, $order first, searches an index, and needs no sort',
  async ({ resource, filter, order }) => {
    const database = await newDatabase()
    await database.open()
    const { location } = database
    if (location.kind === 'sqlite') expectIndexOnSqlite(location.path, resource, filter, order)
    else await expectIndexOnPostgres(location.url, resource, filter, order)
  },
)

test('each field of a search is a parameter of its procedure, and so may be each filter', () => {
  const searches = proceduresOf(fixtureRouter).filter(({ name }) => name.endsWith('.search'))
  expect(searches.length).toBeGreaterThan(1)
  for (const procedure of searches) {
    const { search = {}, filters = [] } = tablesOnSqlite.collections[procedure.name.replace(/\.search$/, '')] ?? {}
    const parameters = new Set(filtersOf(procedure))
    expect(['id', ...Object.keys(search)].filter((name) => !parameters.has(name))).toEqual([])
    expect([...parameters.difference(new Set(['id', ...Object.keys(search), ...filters]))]).toEqual([])
  }
})

function expectIndexOnSqlite(path: string, resource: string, filter: string | undefined, order: Order): void {
  const { table } = tablesOnSqlite.collections[resource] ?? {}
  if (!table) throw new Error(`There is no resource ${resource}.`)
  const page = textOf(pageOnSqlite(table, filter === undefined ? [] : [filter], order))
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

async function expectIndexOnPostgres(url: string, resource: string, filter = 'id', order: Order): Promise<void> {
  const { table } = tablesOnPostgres.collections[resource] ?? {}
  if (!table) throw new Error(`There is no resource ${resource}.`)
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
