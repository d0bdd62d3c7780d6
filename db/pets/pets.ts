import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { collection, int64, lineChecks, oneOfCheck, positiveCheck } from '#store'
import { maxCount, maxNameLength, petStatuses } from './rules.ts'

export const pets = sqliteTable(
  'pets',
  {
    id: int64('id').primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    categoryId: int64('category_id').notNull(),
    status: text({ enum: petStatuses }).notNull(),
  },
  (pet) => [
    // Each index entry ends with the id. So this index serves the filter and the keyset pagination.
    index('pets_by_status').on(pet.status),
    positiveCheck(pet.id),
    ...lineChecks(pet.name, maxNameLength),
    oneOfCheck(pet.status),
  ],
)

export const petCollection = collection({
  table: pets,
  filters: ['status'],
  search: { name: 'text', categoryId: 'value' },
  counts: { field: 'status', limit: maxCount },
  history: true,
  mutations: ['create', 'update', 'remove'],
})
