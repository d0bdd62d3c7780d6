import { useTimeout, useWindowEvent } from '@mantine/hooks'
import { useCallback, useEffect, useState } from 'react'
import { clearLog } from './requests/log.ts'
import { servicePath } from './service.ts'
import { storage } from './storage.ts'

/** The API key, in the session storage of each tab, and in the local storage if the device remembers it. */
export const storageKey = 'petstore-api-key'
/** In the session storage of a tab in which the user signed out: it does not sign in with the key of another tab. */
const signedOutKey = 'petstore-signed-out'

/** Tabs hand over the key of the session to new tabs, and to the API reference. One of them can sign out all of them. */
type Message = { type: 'request-key' } | { type: 'key'; apiKey: string } | { type: 'sign-out' }
const channelName = 'petstore-session'
/** Milliseconds until the page asks for a key. If another tab responds later, its key is still used. */
const requestTimeout = 200
/** Milliseconds until no tab is signed in. */
const findTimeout = 500

interface Session {
  /** Undefined while the key of another tab is requested, null after that. */
  apiKey: string | null | undefined
  /** Whether the service rejected the key of the previous session. */
  wasRefused: boolean
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
 * Takes the key of a link such as `http://127.0.0.1:3000/#key=pet_…` out of the address. Browsers do not send this part of
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
    return { apiKey: linkedKey === undefined ? apiKey : (apiKey ?? null), wasRefused: false, linkedKey }
  })
  const [isLate, setIsLate] = useState(false)
  useTimeout(() => setIsLate(true), requestTimeout, { autoInvoke: true })
  const { apiKey } = session
  const end = useCallback((key: string, wasRefused: boolean) => {
    forgetKey(key)
    // Another user of this tab must not see what the one before entered.
    if (!wasRefused) clearLog()
    setSession((current) => (current.apiKey === key ? { ...current, apiKey: null, wasRefused } : current))
  }, [])
  useEffect(() => {
    if (apiKey === null) return
    if (apiKey !== undefined) return offerKey(apiKey, () => end(apiKey, false))
    return requestKey((received) => {
      storeKey(received, { remember: false })
      setSession((current) => ({ ...current, apiKey: received }))
    })
  }, [apiKey, end])
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
        clearLog()
        setSession({ apiKey: key, wasRefused: false, linkedKey: undefined })
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

/** Responds to the requests of other tabs, and follows their sign-out, until the returned function is called. */
function offerKey(apiKey: string, onSignOut: () => void): () => void {
  const channel = openChannel()
  if (!channel) return () => {}
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'request-key') channel.postMessage({ type: 'key', apiKey } satisfies Message)
    if (data.type === 'sign-out') onSignOut()
  }
  return () => channel.close()
}

function signOutOtherTabs(): void {
  storage('localStorage')?.removeItem(nameHere(storageKey))
  const channel = openChannel()
  channel?.postMessage({ type: 'sign-out' } satisfies Message)
  channel?.close()
}

/** Undefined in a browser that blocks it, as Firefox does together with storage. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(nameHere(channelName))
  } catch {
    return undefined
  }
}

/** Another service on the same origin, under another path, has names of its own. */
function nameHere(name: string): string {
  return name + servicePath()
}

/** Requests the key of another tab, until the returned function is called. */
function requestKey(onReceived: (apiKey: string) => void): () => void {
  const channel = openChannel()
  if (!channel) return () => {}
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'key') onReceived(data.apiKey)
  }
  channel.postMessage({ type: 'request-key' } satisfies Message)
  return () => channel.close()
}

/** The key of this tab or device, or else of another tab. Null if none is signed in. Nothing is stored. */
export async function findKey(): Promise<string | null> {
  const name = nameHere(storageKey)
  const stored = storage('sessionStorage')?.getItem(name) ?? storage('localStorage')?.getItem(name)
  if (stored) return stored
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const cancel = requestKey(resolve)
  setTimeout(() => resolve(null), findTimeout)
  return promise.finally(cancel)
}

/** The stored key, null after a sign-out in this tab, or undefined if other tabs may have a key. */
function storedKey(): string | null | undefined {
  const tab = storage('sessionStorage')
  const key = tab?.getItem(nameHere(storageKey))
  if (key) return key
  if (tab?.getItem(nameHere(signedOutKey))) return null
  const remembered = storage('localStorage')?.getItem(nameHere(storageKey))
  if (!remembered) return undefined
  // This tab keeps its key if another one signs out.
  tab?.setItem(nameHere(storageKey), remembered)
  return remembered
}

function storeKey(apiKey: string, { remember }: { remember: boolean }): void {
  const tab = storage('sessionStorage')
  tab?.setItem(nameHere(storageKey), apiKey)
  tab?.removeItem(nameHere(signedOutKey))
  if (remember) storage('localStorage')?.setItem(nameHere(storageKey), apiKey)
}

function forgetKey(apiKey: string): void {
  const tab = storage('sessionStorage')
  if (tab?.getItem(nameHere(storageKey)) === apiKey) {
    tab.removeItem(nameHere(storageKey))
    tab.setItem(nameHere(signedOutKey), 'true')
  }
  const device = storage('localStorage')
  if (device?.getItem(nameHere(storageKey)) === apiKey) device.removeItem(nameHere(storageKey))
}
