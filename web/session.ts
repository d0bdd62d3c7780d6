import { useEffect, useState } from 'react'
import { servicePath } from './service.ts'

/** The API key, in the session storage of each tab, and in the local storage if the device remembers it. */
export const storageKey = 'petstore-api-key'
/** In the session storage of a tab in which the user signed out: it does not sign in with the key of another tab. */
const signedOutKey = 'petstore-signed-out'

/** Tabs hand over the key of the session to new tabs, and to the API reference. */
type Message = { type: 'request-key' } | { type: 'key'; apiKey: string }
const channelName = 'petstore-session'
/** Milliseconds to wait for the key of another tab. */
const requestTimeout = 200

interface Session {
  /** Undefined while the key of another tab is requested, null after that. */
  apiKey: string | null | undefined
  /** Whether the service rejected the key of the previous session. */
  wasRefused: boolean
}

export interface SessionActions {
  signIn(apiKey: string, options: { remember: boolean }): void
  signOut(apiKey: string): void
  /** Signs out because the service rejected this key. Does nothing if another key is in use by now. */
  refuse(apiKey: string): void
}

export function useSession(): [Session, SessionActions] {
  const [session, setSession] = useState<Session>(() => ({ apiKey: storedKey(), wasRefused: false }))
  const { apiKey } = session
  useEffect(() => {
    if (apiKey === null) return
    if (apiKey !== undefined) return offerKey(apiKey)
    return requestKey((received) => {
      if (received !== null) storeKey(received, { remember: false })
      setSession({ apiKey: received, wasRefused: false })
    })
  }, [apiKey])

  function end(key: string, wasRefused: boolean) {
    forgetKey(key)
    setSession((current) => (current.apiKey === key ? { apiKey: null, wasRefused } : current))
  }

  return [
    session,
    {
      signIn(key, options) {
        storeKey(key, options)
        setSession({ apiKey: key, wasRefused: false })
      },
      signOut: (key) => end(key, false),
      refuse: (key) => end(key, true),
    },
  ]
}

/** Responds to the requests of other tabs, until the returned function is called. */
function offerKey(apiKey: string): () => void {
  const channel = openChannel()
  if (!channel) return () => {}
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'request-key') channel.postMessage({ type: 'key', apiKey } satisfies Message)
  }
  return () => channel.close()
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

/** Requests the key of another tab. `onReceived` gets null if no tab responds in time. */
function requestKey(onReceived: (apiKey: string | null) => void): () => void {
  const channel = openChannel()
  if (!channel) {
    onReceived(null)
    return () => {}
  }
  const timer = setTimeout(() => onReceived(null), requestTimeout)
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'key') onReceived(data.apiKey)
  }
  channel.postMessage({ type: 'request-key' } satisfies Message)
  return () => {
    clearTimeout(timer)
    channel.close()
  }
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

/** Undefined in a browser that blocks it: the user then has to sign in again after a reload. */
function storage(name: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    return window[name]
  } catch {
    return undefined
  }
}
