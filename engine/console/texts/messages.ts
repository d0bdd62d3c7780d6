import type { Noun } from '../resource.ts'
import { product } from '../service.ts'
import { capitalized, duration } from './formats.ts'

/** The texts of the console that do not depend on its page. */
export const messages = {
  page: {
    title: (view: string) => `${view} · ${product().name}`,
    navigation: 'Main',
    list: ({ many }: Noun) => capitalized(many),
    reference: 'API reference',
    colorScheme: { auto: 'Colors: system', light: 'Colors: light', dark: 'Colors: dark' },
    account: 'Account',
    close: 'Close',
    copied: 'Copied',
    shortcuts: 'Keyboard shortcuts',
    import: 'Add many',
    export: 'Export',
  },

  session: {
    title: 'Sign in',
    apiKey: 'API key',
    showKey: 'Show the key',
    remember: 'Remember on this device',
    rememberText: 'Until you sign out. Otherwise, the key is forgotten when you close your last tab.',
    signIn: 'Sign in',
    checking: 'Checking…',
    keyMissing: 'Enter an API key.',
    keyInvalid: 'This key is not valid.',
    notChecked: 'The key could not be checked',
    tryLater: 'Try again in a moment.',
    signedOut: 'You were signed out',
    signedOutText: 'The service no longer accepts the key: it was revoked or has expired. Sign in with another one.',
    firstKey: 'The service prints a key at its first start.',
    staySignedIn: 'Stay signed in',
  },

  problem: {
    page: 'This page has an error. Reload it.',
    unexpected: 'The service gave an unexpected response.',
    unreachable: 'The service cannot be reached.',
    offline: 'The service cannot be reached: this device is offline.',
    rateLimited: 'Too many requests.',
    unavailable: 'The service is not available at the moment.',
    sameKey: 'Another request had the same idempotency key.',
    retrying: { in: (seconds: number) => `Trying again in ${duration(seconds)}.`, now: 'Trying again…' },
    allowed: { in: (seconds: number) => `Try again in ${duration(seconds)}.`, now: 'Try again.' },
    retryNow: 'Try again now',
    requestId: 'Request id',
    copyRequestId: 'Copy the request id',
  },

  requests: {
    title: 'Requests',
    show: 'Technical details',
  },

  notLoaded: {
    text: 'This part of the console could not be loaded: the service cannot be reached, or it was updated. Reload the page.',
    reload: 'Reload',
  },
}
