import type { z } from 'zod'
import { apiKeyFormat } from '../../service/auth/api-key.ts'
import { keysOf } from '../../service/commands/keys.ts'
import { configurationOf } from '../../service/config.ts'
import type { Context } from '../../service/procedures/trpc.ts'
import type { Product } from '../../service/product.ts'
import type { BaseStore } from '../../store/collection/base-store.ts'
import type { WithApiKeys } from '../../store/keys.ts'

/** What the engine makes for a product: the format of its keys, its settings, and the actions of its command line. */
export function productFixtures(product: Product, settings?: z.ZodObject) {
  const format = apiKeyFormat(product.keyPrefix)
  const configuration = configurationOf(product, settings)
  /** A key that no store has. */
  const mintApiKey = () => format.mintApiKey('test').key
  return {
    product,
    apiKeyRecord: format.apiKeyRecord,
    /** The context of a call with an API key that does not expire. */
    contextWith: (store: BaseStore): Context => ({
      store,
      caller: undefined,
      apiKey: { id: 1n, ...format.apiKeyRecord(mintApiKey(), 'test') },
      rateLimit: undefined,
      release: product.version,
      settings: {},
      dependencies: undefined,
      searcher: () => ({ id: 1n, signal: new AbortController().signal }),
    }),
    isApiKey: format.isApiKey,
    startOf: format.startOf,
    mintApiKey,
    readConfig: configuration.readConfig,
    /** The names of all variables, in the order of the documentation. */
    variableNames: configuration.settings.map(configuration.variableOf),
    createKey: async (store: WithApiKeys, name: string, lifetime?: number) =>
      (await keysOf(product, store).create(name, lifetime)).key,
    revokeKey: (store: WithApiKeys, nameOrStart: string) => keysOf(product, store).revoke(nameOrStart),
    rotateKey: (store: WithApiKeys, nameOrStart: string, lifetime?: number) =>
      keysOf(product, store).rotate(nameOrStart, lifetime),
  }
}

export type ProductFixtures = ReturnType<typeof productFixtures>
