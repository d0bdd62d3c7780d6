import { nameHere, storage } from './storage.ts'

/** The API key, in the session storage of each tab, and in the local storage if the device remembers it. */
const storageKey = 'api-key'
/** In the session storage of a tab in which the user signed out: it does not sign in with the key of another tab. */
const signedOutKey = 'signed-out'

/** Tabs hand over the key of the session to new tabs, and to the API reference. One of them can sign out all of them. */
type Message = { type: 'request-key' } | { type: 'key'; apiKey: string } | { type: 'sign-out' }
/** Milliseconds until no tab is signed in. */
const findTimeout = 500

/** Hands over the key to other tabs, and follows their sign-out, until the returned function is called. */
export function offerKey(apiKey: string, onSignOut: () => void): () => void {
  return exchange({ type: 'key', apiKey }, ({ type }, sendAgain) => {
    if (type === 'request-key') sendAgain()
    if (type === 'sign-out') onSignOut()
  })
}

export function signOutOtherTabs(): void {
  storage('localStorage').remove(storageKey)
  exchange({ type: 'sign-out' }, () => {})()
}

/** Requests the key of another tab, until the returned function is called. */
export function requestKey(onReceived: (apiKey: string) => void): () => void {
  return exchange({ type: 'request-key' }, (message) => {
    if (message.type === 'key') onReceived(message.apiKey)
  })
}

/** Sends a message to the other tabs, and receives theirs until the returned function is called. */
function exchange(message: Message, onMessage: (received: Message, sendAgain: () => void) => void): () => void {
  try {
    const channel = new BroadcastChannel(nameHere('session'))
    const send = () => channel.postMessage(message)
    channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data, send)
    send()
    return () => channel.close()
  } catch {
    // Firefox blocks it together with storage.
    return () => {}
  }
}

/** Whether an HTTP header can carry the key. */
export function isPossibleKey(apiKey: string): boolean {
  return /^[\x21-\x7e]+$/.test(apiKey)
}

/** A stored key. Another program, or a user, may have stored a text that is none. */
function read(name: 'localStorage' | 'sessionStorage'): string | undefined {
  const key = storage(name).get(storageKey)
  return key && isPossibleKey(key) ? key : undefined
}

/** The key of this tab or device, or else of another tab. Null if none is signed in. Nothing is stored. */
export async function findKey(): Promise<string | null> {
  const stored = read('sessionStorage') ?? read('localStorage')
  if (stored !== undefined) return stored
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const cancel = requestKey(resolve)
  setTimeout(() => resolve(null), findTimeout)
  return promise.finally(cancel)
}

/** The stored key, null after a sign-out in this tab, or undefined if other tabs may have a key. */
export function storedKey(): string | null | undefined {
  const tab = storage('sessionStorage')
  const key = read('sessionStorage')
  if (key !== undefined) return key
  if (tab.get(signedOutKey)) return null
  const remembered = read('localStorage')
  // This tab keeps its key if another one signs out.
  if (remembered !== undefined) tab.set(storageKey, remembered)
  return remembered
}

export function storeKey(apiKey: string, { remember }: { remember: boolean }): void {
  const tab = storage('sessionStorage')
  tab.set(storageKey, apiKey)
  tab.remove(signedOutKey)
  if (remember) storage('localStorage').set(storageKey, apiKey)
}

/** @param wasRefused whether the service rejected the key. The tab may then sign in with the key of another one. */
export function forgetKey(apiKey: string, wasRefused: boolean): void {
  const tab = storage('sessionStorage')
  if (tab.get(storageKey) === apiKey) {
    tab.remove(storageKey)
    if (!wasRefused) tab.set(signedOutKey, 'true')
  }
  if (read('localStorage') === apiKey) storage('localStorage').remove(storageKey)
}
