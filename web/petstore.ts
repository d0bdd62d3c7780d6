import { createContext, useContext } from 'react'
import type { PetstoreClient } from '../client/index.ts'

const Petstore = createContext<PetstoreClient | undefined>(undefined)

export const PetstoreProvider = Petstore.Provider

/** The client with the key that somebody signed in with. */
export function usePetstore(): PetstoreClient {
  const petstore = useContext(Petstore)
  if (!petstore) throw new Error('Nobody has signed in.')
  return petstore
}
