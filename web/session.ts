import { useState } from 'react'

const storageKey = 'petstore-api-key'

export interface Session {
  apiKey: string | undefined
  /** Whether the service no longer took the key that was in use. */
  wasRefused: boolean
}

export interface SessionActions {
  signIn(apiKey: string): void
  signOut(reason?: 'refused'): void
}

/** The API key is kept for this tab alone: a reload keeps it, and closing the tab forgets it. */
export function useSession(): [Session, SessionActions] {
  const [session, setSession] = useState<Session>(() => ({
    apiKey: sessionStorage.getItem(storageKey) ?? undefined,
    wasRefused: false,
  }))
  return [
    session,
    {
      signIn(apiKey) {
        sessionStorage.setItem(storageKey, apiKey)
        setSession({ apiKey, wasRefused: false })
      },
      signOut(reason) {
        sessionStorage.removeItem(storageKey)
        setSession({ apiKey: undefined, wasRefused: reason === 'refused' })
      },
    },
  ]
}
