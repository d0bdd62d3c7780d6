import { createContext, useContext } from 'react'
import { createClient, type ServiceClient, type ServiceRouter } from '#client'
import { loggedFetch } from './requests/log.ts'
import { serviceUrl } from './service.ts'

/** Milliseconds. The service itself gives up a create after 10 s. */
const timeout = 12_000
/** Milliseconds. */
const maxPause = 1_000

/** A client of the service that serves this page. It retries once, so that the console can show a failure soon. */
export function clientWith(apiKey: string): ServiceClient {
  return createClient<ServiceRouter>({ url: serviceUrl(), apiKey, retries: 1, maxPause, timeout, fetch: loggedFetch })
}

const Client = createContext<ServiceClient | undefined>(undefined)

export const ClientProvider = Client.Provider

/** The client with the API key of the session. */
export function useClient(): ServiceClient {
  const client = useContext(Client)
  if (!client) throw new Error('useClient needs a ClientProvider.')
  return client
}
