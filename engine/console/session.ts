import { useTimeout, useWindowEvent } from '@mantine/hooks'
import { useCallback, useEffect, useState } from 'react'
import { forgetKey, offerKey, requestKey, signOutOtherTabs, storedKey, storeKey } from './api-key.ts'
import { clearLog } from './requests/log.ts'
import { doubtDrafts } from './resource/drafts.ts'

/** Milliseconds until the page asks for a key. If another tab responds later, its key is still used. */
const requestTimeout = 200

interface Session {
  /** Undefined while the key of another tab is requested, null after that. */
  apiKey: string | null | undefined
  /** The key of the previous session, if the service rejected it. */
  refusedKey: string | undefined
  /** A key that the user opened with a link, until it is used or dismissed. */
  linkedKey: string | undefined
}

/** Signing out in all tabs also forgets the key that the device remembers. */
export type SignOutScope = 'tab' | 'all-tabs'

export interface SessionActions {
  signIn(apiKey: string, options: { remember: boolean }): void
  signOut(apiKey: string, scope: SignOutScope): void
  /** Signs out because the service rejected this key. Does nothing if another key is in use by now. */
  refuse(apiKey: string): void
  /** Keeps the current session instead of using the key of a link. */
  dismissLink(): void
}

/**
 * Takes the key of a link such as `http://127.0.0.1:3000/#key=…` out of the address. Browsers do not send this part of
 * the address to a service.
 */
export function takeLinkedKey(): string | undefined {
  const key = new URLSearchParams(location.hash.slice(1)).get('key')
  if (key === null) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return key
}

/** @param firstLinkedKey the key of the link that opened the page */
export function useSession(firstLinkedKey: string | undefined): [Session, SessionActions] {
  const [session, setSession] = useState<Session>(() => {
    const apiKey = storedKey()
    const linkedKey = firstLinkedKey === apiKey ? undefined : firstLinkedKey
    // With a link, the key of another tab is not needed.
    return { apiKey: linkedKey === undefined ? apiKey : (apiKey ?? null), refusedKey: undefined, linkedKey }
  })
  const [isLate, setIsLate] = useState(false)
  useTimeout(() => setIsLate(true), requestTimeout, { autoInvoke: true })
  const { apiKey, refusedKey } = session
  const end = useCallback((key: string, wasRefused: boolean) => {
    forgetKey(key, wasRefused)
    // Another user of this tab must not see what the one before entered.
    if (!wasRefused) clearLog()
    // Another tab may get a new key.
    const next = wasRefused ? { apiKey: undefined, refusedKey: key } : { apiKey: null }
    setSession((current) => (current.apiKey === key ? { ...current, ...next } : current))
  }, [])
  useEffect(() => {
    if (apiKey === null) return
    if (apiKey !== undefined) return offerKey(apiKey, () => end(apiKey, false))
    return requestKey((received) => {
      if (received === refusedKey) return
      storeKey(received, { remember: false })
      doubtDrafts()
      setSession((current) => ({ ...current, apiKey: received, refusedKey: undefined }))
    })
  }, [apiKey, refusedKey, end])
  // If the page is open already, a link to it does not load it again.
  useWindowEvent('hashchange', () => {
    const linkedKey = takeLinkedKey()
    if (linkedKey === undefined) return
    setSession((current) => (current.apiKey === linkedKey ? current : { ...current, linkedKey }))
  })

  return [
    apiKey === undefined && isLate ? { ...session, apiKey: null } : session,
    {
      signIn(key, options) {
        storeKey(key, options)
        if (key !== (apiKey ?? refusedKey)) doubtDrafts()
        clearLog()
        setSession({ apiKey: key, refusedKey: undefined, linkedKey: undefined })
      },
      signOut(key, scope) {
        end(key, false)
        if (scope === 'all-tabs') signOutOtherTabs()
      },
      refuse: (key) => end(key, true),
      dismissLink: () => setSession((current) => ({ ...current, linkedKey: undefined })),
    },
  ]
}
