import type { Noun } from '../resource.ts'
import { date, number, time } from './formats.ts'

/** The texts of the account, and of what is loaded with it. */
export const texts = {
  key: 'API key',
  access: 'Access',
  accesses: { read: 'This key may only read', write: 'Reads and changes' },
  expires: 'Expires',
  expiry: (at: Date | undefined) => (at ? date(at) : 'Never'),
  calls: 'Calls left',
  callsLeft: (left: number, all: number, until: Date) => `${number(left)} of ${number(all)} until ${time(until)}`,
  unlimited: 'Unlimited',
  release: 'Release',
  newKey: 'Create another key',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out in all tabs',
  skip: ({ many }: Noun) => `Skip to the ${many}`,
}
