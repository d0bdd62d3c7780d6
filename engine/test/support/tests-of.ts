import type { BaseStore } from '../../store/collection/base-store.ts'
import type { WithApiKeys } from '../../store/keys.ts'
import { databaseTests } from './database.ts'
import { processTests } from './process.ts'
import { productTests } from './product.ts'
import { rawHttpTests } from './raw-http.ts'
import { sampleTests } from './sample-database.ts'
import { apiTests, type StartOptions, type TestApi } from './test-api.ts'
import type { Tested } from './tested.ts'

/** What tests do with a product: its databases, its service in the process of the test or in another one, its keys. */
export async function testsOf<Stores extends WithApiKeys, Client>(tested: Tested<Stores, Client>) {
  type Store = BaseStore & Stores
  const product = productTests(tested.service.product)
  const databases = await databaseTests(tested.service.store)
  const api = apiTests(tested, product, databases)
  const processes = processTests(tested, product, databases)
  return {
    service: tested.service,
    ...product,
    ...databases,
    ...api,
    ...processes,
    ...rawHttpTests<TestApi<Store, Client>>(tested.row, product, api),
    ...sampleTests(tested.row, tested.service.product.command, databases),
  }
}

export type { StartOptions, TestApi }
