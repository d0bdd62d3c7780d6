import { createContext, useContext } from 'react'
import { createPetstoreClient, type PetstoreClient } from '../client/index.ts'
import { serviceUrl } from './service.ts'

/** Milliseconds. The service itself gives up a create after 10 s. */
const timeout = 12_000
/** Milliseconds. */
const maxPause = 1_000

/** A client of the service that serves this page. It retries once, so that the console can show a failure soon. */
export function petstoreWith(apiKey: string): PetstoreClient {
  return createPetstoreClient({ url: serviceUrl(), apiKey, retries: 1, maxPause, timeout, fetch: rememberReplays })
}

async function rememberReplays(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, init)
  const key = new Headers(init.headers).get('idempotency-key')
  if (key !== null && response.headers.has('idempotency-replayed')) replayedKeys.add(key)
  return response
}

/** The idempotency keys of creates whose response repeated that of an earlier request. */
const replayedKeys = new Set<string>()

/** Whether an earlier request with this idempotency key had created the pet. */
export function wasReplayed(idempotencyKey: string): boolean {
  return replayedKeys.has(idempotencyKey)
}

const Petstore = createContext<PetstoreClient | undefined>(undefined)

export const PetstoreProvider = Petstore.Provider

/** The client with the API key of the session. */
export function usePetstore(): PetstoreClient {
  const petstore = useContext(Petstore)
  if (!petstore) throw new Error('usePetstore needs a PetstoreProvider.')
  return petstore
}
