import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { ApiError } from './errors.ts'

// Either a string as in RFC 9651, section 3.3.3, or text that does not begin with a quote. Both patterns are in the OpenAPI
// document. Some languages reject an unescaped quote, or an unescaped [ in a class.
const quoted = /^\x22((?:[ !#-\[\]-~]|\\[\x22\\]){1,255})\x22$/v
const bare = /^[!#-~][!-~]{0,254}$/

/** draft-ietf-httpapi-idempotency-key-header: a client that repeats a request with its key gets the first response again. */
const requestHeader = z
  .string()
  .regex(new RegExp(`${bare.source}|${quoted.source}`))
  .optional()

export function requestHeaders(creates: string | undefined) {
  const noEffect = creates === undefined ? 'has no second effect' : `adds no second ${creates}`
  const description = `A string of your choice for each new request, such as a UUID: 1 to 255 visible ASCII characters, bare, or in double quotes, where spaces are allowed. Within 24 hours, a repeated request with the same key ${noEffect}: it gets the response of the first one, with \`Idempotency-Replayed: true\`.`
  return z.object({ 'Idempotency-Key': requestHeader.meta({ description }) })
}

export const responseHeaders = z.object({
  'Idempotency-Replayed': z
    .literal('true')
    .optional()
    .meta({ description: 'This is the response to an earlier request with the same `Idempotency-Key`.' }),
})

/** The idempotency keys of the calls of a request. A batch has one for each call, in double quotes, separated by commas. */
export function readIdempotencyKeys(headers: IncomingHttpHeaders, calls: number): string[] | undefined {
  const header = headers['idempotency-key']
  if (header === undefined) return undefined
  return calls === 1 ? [readKey(String(header))] : readList(String(header), calls)
}

function readKey(text: string): string {
  if (bare.test(text)) return text
  const [, key] = quoted.exec(text) ?? []
  if (key !== undefined) return unescaped(key)
  throw new ApiError(
    'invalid_request',
    'Idempotency-Key: expected a string of 1 to 255 visible ASCII characters, bare, or in double quotes with or without spaces',
  )
}

/** A quoted key and what separates it from the next one in a list (RFC 9651, section 3.1). */
const listed = new RegExp(`${quoted.source.slice(1, -1)}(?: *, *(?=\\x22)|$)`, 'gv')

function readList(text: string, calls: number): string[] {
  const found = [...text.matchAll(listed)]
  if (found.length !== calls || found.map(([whole]) => whole).join('') !== text)
    throw new ApiError(
      'invalid_request',
      'Idempotency-Key: expected as many keys as the batch has calls, each in double quotes, separated by commas',
    )
  return found.map(([, key = '']) => unescaped(key))
}

function unescaped(key: string): string {
  return key.replaceAll(/\\(.)/g, '$1')
}
