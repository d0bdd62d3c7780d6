import { createContext, useContext } from 'react'
import { createPetstoreClient, type PetstoreClient } from '../client/index.ts'

/** Milliseconds; the service itself gives up a creation after ten seconds. */
const longestWait = 12_000
/** Milliseconds. */
const maxPause = 1_000

/** A client of the service that the page comes from. A failure that lasts is shown soon, and the page retries it later. */
export function petstoreWith(apiKey: string): PetstoreClient {
  return createPetstoreClient({ url: location.origin, apiKey, retries: 1, maxPause, fetch: fetchInTime })
}

async function fetchInTime(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), longestWait)
  const signal = init.signal ? AbortSignal.any([init.signal, limit.signal]) : limit.signal
  try {
    return await fetch(input, { ...init, signal })
  } finally {
    clearTimeout(timer)
  }
}

const Petstore = createContext<PetstoreClient | undefined>(undefined)

export const PetstoreProvider = Petstore.Provider

/** The client with the key that somebody signed in with. */
export function usePetstore(): PetstoreClient {
  const petstore = useContext(Petstore)
  if (!petstore) throw new Error('Nobody has signed in.')
  return petstore
}
