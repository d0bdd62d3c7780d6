import type { BaseStore } from '../../store/collection/base-store.ts'
import type { WithApiKeys } from '../../store/keys.ts'
import { changesFixtures } from './changes.ts'
import { databaseFixtures } from './database.ts'
import { startLoad } from './load-without-retries.ts'
import { processFixtures } from './process.ts'
import { productFixtures } from './product.ts'
import { rawHttpFixtures } from './raw-http.ts'
import { sampleFixtures } from './sample-database.ts'
import { smallDiskFixtures } from './small-disk.ts'
import { apiFixtures, type StartOptions, type TestApi } from './test-api.ts'
import type { Tested } from './tested.ts'
import { tracedFixtures } from './traced.ts'

/** What tests do with a product: its databases, its service in the process of the test or in another one, its keys. */
export async function fixturesOf<Stores extends WithApiKeys, Client>(tested: Tested<Stores, Client>) {
  type Store = BaseStore & Stores
  const { command } = tested.service.product
  const product = productFixtures(tested.service.product, tested.service.settings)
  const databases = await databaseFixtures(tested.service.store)
  const api = apiFixtures(tested, product, databases)
  const processes = processFixtures(tested, product, databases)
  return {
    service: tested.service,
    ...product,
    ...databases,
    ...api,
    ...processes,
    ...rawHttpFixtures<TestApi<Store, Client>>(tested.row, product, api),
    ...sampleFixtures(tested.row, command, databases),
    ...changesFixtures(tested.row),
    ...smallDiskFixtures(command, processes),
    ...tracedFixtures(command, processes),
    startLoad: startLoad.bind(undefined, tested.row),
  }
}

export type { StartOptions, TestApi }
