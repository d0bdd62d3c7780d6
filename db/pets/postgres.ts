import { sql } from 'drizzle-orm'
import { check, index, pgTable, text } from 'drizzle-orm/pg-core'
import { int64 } from '../postgres/columns.ts'
import type { PostgresResource } from '../postgres/resource.ts'
import { insertInto, rangeOf, textOf } from '../postgres/statements.ts'
import { countStatement, petFilters, petSearch, petStatuses, toPetCounts } from './shared.ts'

// The rules for a pet's name, as in the table of SQLite. PostgreSQL's own character classes depend on the locale.
const whiteSpace = String.raw`\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`
const controlCharacters = String.raw`[\u0001-\u001f\u007f-\u009f]`

export const pets = pgTable(
  'pets',
  {
    id: int64('id').primaryKey().generatedAlwaysAsIdentity(),
    name: text().notNull(),
    categoryId: int64('category_id').notNull(),
    status: text({ enum: petStatuses }).notNull(),
  },
  (table) => [
    index('pets_by_status').on(table.status, table.id),
    check('pets_id_positive', sql`id > 0`),
    check('pets_name_length', sql`length(name) BETWEEN 1 AND 255`),
    check('pets_name_not_blank', sql`btrim(name, E'${sql.raw(whiteSpace)}') <> ''`),
    check('pets_name_no_control_characters', sql`name !~ '${sql.raw(controlCharacters)}'`),
    check('pets_status_known', sql`status IN (${sql.raw(petStatuses.map((status) => `'${status}'`).join(', '))})`),
  ],
)

const create = insertInto(pets)
const counts = countStatement(
  (status) =>
    sql`SELECT ${pets.id} FROM ${pets} WHERE ${rangeOf(pets.status, pets.id, status, sql`0`)} ORDER BY ${pets.status}, ${pets.id}`,
)

export const petsOnPostgres = {
  table: pets,
  filters: petFilters,
  search: petSearch,
  writes: { create },
  open: ({ list, get, search, read, mutation }) => ({
    list: list(),
    get: get(),
    search: search(),
    async counts() {
      const [row] = await read<bigint[]>({ name: 'count_pets', text: textOf(counts) }, [])
      return toPetCounts(row ?? [])
    },
    create: mutation(create),
  }),
} satisfies PostgresResource<object, typeof pets, typeof petFilters, typeof petSearch>
