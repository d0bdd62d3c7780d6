import { collection } from './collection.ts'
import { apiKeys } from './keys/table.ts'

export type { ApiKey, ApiKeyStore, NewApiKey, WithApiKeys } from './keys/store.ts'
export { apiKeys }

/** The API keys of a service as a collection, with statements of their own. */
export const apiKeyCollection = collection({
  table: apiKeys,
  own: { sqlite: () => import('./keys/sqlite.ts'), postgres: () => import('./keys/postgres.ts') },
})
