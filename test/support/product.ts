import { apiKeyFormat } from '../../engine/service/auth/api-key.ts'
import * as keys from '../../engine/service/commands/key-actions.ts'
import { configurationOf } from '../../engine/service/config.ts'
import type { WithApiKeys } from '../../engine/store/keys/store.ts'
import { product } from '../../server/service.ts'

/** What the engines do for this product. */

export { product, service } from '../../server/service.ts'

const format = apiKeyFormat(product.keyPrefix)
export const { apiKeyRecord, isApiKey, startOf } = format

/** A key that no store has. */
export function mintApiKey(): string {
  return format.mintApiKey('test').key
}

const configuration = configurationOf(product)
export const { readConfig } = configuration
/** The names of all variables, in the order of the documentation. */
export const variableNames = configuration.settings.map(configuration.nameOf)

export async function createKey(store: WithApiKeys, name: string, lifetime?: number): Promise<string> {
  return (await keys.createKey(product, store, name, lifetime)).key
}

export function revokeKey(store: WithApiKeys, nameOrStart: string) {
  return keys.revokeKey(product, store, nameOrStart)
}

export function rotateKey(store: WithApiKeys, nameOrStart: string, lifetime?: number) {
  return keys.rotateKey(product, store, nameOrStart, lifetime)
}
