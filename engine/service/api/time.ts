import { z } from 'zod'
import { mustBe } from './validation.ts'

const example = '2026-11-20T08:30:00.000Z'

/** The only spelling of a time, in inputs and outputs of both adapters. */
export const timeFormat = `a time in UTC with milliseconds, such as ${example}`

/** A time, exact to the millisecond: a `Date` in TypeScript and for RPC clients, and text as in RFC 3339 in JSON. */
export const Time = z.date({ error: mustBe(timeFormat) }).meta({
  examples: [example],
  override: {
    type: 'string',
    format: 'date-time',
    pattern: '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
  },
})
