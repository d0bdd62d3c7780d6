import { createContext, useContext } from 'react'
import { createPetstoreClient, type PetstoreClient } from '../client/index.ts'
import { loggedFetch } from './requests/log.ts'
import { serviceUrl } from './service.ts'

/** Milliseconds. The service itself gives up a create after 10 s. */
const timeout = 12_000
/** Milliseconds. */
const maxPause = 1_000

/** A client of the service that serves this page. It retries once, so that the console can show a failure soon. */
export function petstoreWith(apiKey: string): PetstoreClient {
  return createPetstoreClient({ url: serviceUrl(), apiKey, retries: 1, maxPause, timeout, fetch: loggedFetch })
}

const Petstore = createContext<PetstoreClient | undefined>(undefined)

export const PetstoreProvider = Petstore.Provider

/** The client with the API key of the session. */
export function usePetstore(): PetstoreClient {
  const petstore = useContext(Petstore)
  if (!petstore) throw new Error('usePetstore needs a PetstoreProvider.')
  return petstore
}
