/** The API keys of a service as a collection, with statements of their own. */
export { apiKeyCollection } from './keys/keys.ts'
export type { ApiKey, ApiKeyStore, NewApiKey, WithApiKeys } from './keys/store.ts'
export { apiKeys } from './keys/table.ts'
