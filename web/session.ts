import { useEffect, useState } from 'react'

export const storageKey = 'petstore-api-key'

export interface Session {
  apiKey: string | undefined
  /** Whether the service rejected the key of the previous session. */
  wasRefused: boolean
}

export interface SessionActions {
  signIn(apiKey: string): void
  signOut(): void
  /** Signs out because the service rejected this key. Does nothing if another key is in use by now. */
  refuse(apiKey: string): void
}

/** The API key is stored in this tab's session storage: it survives a reload, but not closing the tab. */
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

/** Ignores a browser that blocks session storage: the user then has to sign in again after a reload. */
function storeKey(apiKey: string | undefined): void {
  try {
    if (apiKey === undefined) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, apiKey)
  } catch {}
}
