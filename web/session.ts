import { useEffect, useState } from 'react'

export const storageKey = 'petstore-api-key'

export interface Session {
  apiKey: string | undefined
  /** Whether the service no longer took the key that was in use. */
  wasRefused: boolean
}

export interface SessionActions {
  signIn(apiKey: string): void
  signOut(): void
  /** Signs out if it is this key that the service no longer takes, and not one that was in use before. */
  refuse(apiKey: string): void
}

/** The API key is kept for this tab alone: a reload keeps it, and closing the tab forgets it. */
export function useSession(): [Session, SessionActions] {
  const [session, setSession] = useState<Session>(() => ({ apiKey: readKey(), wasRefused: false }))
  useEffect(() => storeKey(session.apiKey), [session.apiKey])
  return [
    session,
    {
      signIn: (apiKey) => setSession({ apiKey, wasRefused: false }),
      signOut: () => setSession({ apiKey: undefined, wasRefused: false }),
      refuse: (apiKey) =>
        setSession((current) => (current.apiKey === apiKey ? { apiKey: undefined, wasRefused: true } : current)),
    },
  ]
}

function readKey(): string | undefined {
  try {
    return sessionStorage.getItem(storageKey) ?? undefined
  } catch {
    return undefined
  }
}

/** Where a browser keeps nothing for a page, only a reload is the worse for it. */
function storeKey(apiKey: string | undefined): void {
  try {
    if (apiKey === undefined) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, apiKey)
  } catch {}
}
