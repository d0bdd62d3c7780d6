import { createContext, useContext } from 'react'
import { createPetstoreClient, type PetstoreClient } from '../client/index.ts'

/** A client of the service that the page comes from. Whatever does not pass in a moment is told, and tried again from here. */
export function petstoreWith(apiKey: string): PetstoreClient {
  return createPetstoreClient({ url: location.origin, apiKey, retries: 1 })
}

const Petstore = createContext<PetstoreClient | undefined>(undefined)

export const PetstoreProvider = Petstore.Provider

/** The client with the key that somebody signed in with. */
export function usePetstore(): PetstoreClient {
  const petstore = useContext(Petstore)
  if (!petstore) throw new Error('Nobody has signed in.')
  return petstore
}
