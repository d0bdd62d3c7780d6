import { collection } from './collection.ts'
import { methodsOf } from './keys/store.ts'
import { apiKeys } from './keys/table.ts'

export type { ApiKey, ApiKeyStore, NewApiKey, WithApiKeys } from './keys/store.ts'
export { apiKeys }

/** The API keys of a service as a collection. */
export const apiKeyCollection = collection({ table: apiKeys, methods: methodsOf })
