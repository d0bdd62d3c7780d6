import { collection } from './collection.ts'
import { methodsOf } from './keys/store.ts'
import { apiKeys } from './keys/table.ts'

export type { ApiKey, ApiKeyStore, NewApiKey, WithApiKeys } from './keys/store.ts'
export { apiKeys }

export const apiKeyCollection = collection({ table: apiKeys, methods: methodsOf })
