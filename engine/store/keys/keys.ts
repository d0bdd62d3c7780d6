import { collection } from '../collection.ts'
import { apiKeys } from './table.ts'

export const apiKeyCollection = collection({
  table: apiKeys,
  own: { sqlite: () => import('./sqlite.ts'), postgres: () => import('./postgres.ts') },
})
