import { sql } from 'drizzle-orm'
import { check, index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { int64 } from '../sqlite/columns.ts'
import type { SqliteResource } from '../sqlite/resource.ts'
import { insertInto, textOf } from '../sqlite/statements.ts'
import { countStatement, petFilters, petSearch, petStatuses, toPetCounts } from './shared.ts'

// The rules for names are constraints too, so that a row that is inserted by hand follows them.
// White space is that of `\\s` in JavaScript without the control characters, which have their own rule.
const whiteSpace = [
  32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279,
]
const controlCharacters = `'*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'`

export const pets = sqliteTable(
  'pets',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    categoryId: int64('category_id').notNull(),
    status: text({ enum: petStatuses }).notNull(),
  },
  (table) => [
    // Each index entry ends with the rowid, which is the id. So this index serves the filter and the keyset pagination.
    index('pets_by_status').on(table.status),
    check('pets_id_positive', sql`id > 0`),
    check('pets_name_length', sql`length(name) BETWEEN 1 AND 255`),
    check('pets_name_not_blank', sql`trim(name, ${sql.raw(`char(${whiteSpace.join(', ')})`)}) <> ''`),
    check(
      'pets_name_no_control_characters',
      sql`instr(name, char(0)) = 0 AND name NOT GLOB ${sql.raw(controlCharacters)}`,
    ),
    check('pets_status_known', sql`status IN (${sql.raw(petStatuses.map((status) => `'${status}'`).join(', '))})`),
  ],
)

const create = insertInto(pets)

/** Exported for a test of its query plan. */
export const countPets = textOf(
  countStatement((status) => sql`SELECT ${pets.id} FROM ${pets} WHERE ${pets.status} = ${status} ORDER BY ${pets.id}`),
)

export const petsOnSqlite = {
  table: pets,
  filters: petFilters,
  search: petSearch,
  writes: { create },
  open: ({ list, get, search, read, mutation }) => ({
    list: list(),
    get: get(),
    search: search(),
    counts: read((connection) => {
      const counts = connection.prepare<[], bigint[]>(countPets).raw()
      return () => toPetCounts(counts.get() ?? [])
    }),
    create: mutation(create),
  }),
} satisfies SqliteResource<object, typeof pets, typeof petFilters, typeof petSearch>
