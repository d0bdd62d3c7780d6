import { entriesOf, type Noun, searchOf } from '../resource.ts'
import { keyVariable, serviceUrl } from '../service.ts'

/** A call of a procedure. */
export interface Call {
  /** Such as `toys.list`. */
  procedure: string
  input: unknown
  idempotencyKey: string | undefined
}

interface RestRequest {
  method: 'GET' | 'POST'
  /** Path and query, relative to the address of the service. */
  path: string
  headers?: string[]
  body?: string
}

/** A call as a request of the REST API. Undefined if only the RPC API has the procedure. */
export function restRequestOf({ many }: Noun, { procedure, input, idempotencyKey }: Call): RestRequest | undefined {
  const path = `/v1/${many}`
  switch (procedure) {
    case `${many}.list`:
      return { method: 'GET', path: path + searchOf(Object(input)) }
    case `${many}.get`:
      return { method: 'GET', path: `${path}/${Object.values(Object(input))}` }
    case `${many}.create`: {
      const headers = [
        'Content-Type: application/json',
        ...(idempotencyKey === undefined ? [] : [`Idempotency-Key: ${idempotencyKey}`]),
      ]
      return { method: 'POST', path, headers, body: jsonOf(input) }
    }
    default:
      return undefined
  }
}

/** A command for a POSIX shell, which reads the API key from the environment. */
export function curlOf({ path, headers = [], body }: RestRequest, url = serviceUrl()): string {
  return [
    `curl ${shellWord(url + path)}`,
    // Double quotes expand the variable.
    `--header "Authorization: Bearer $${keyVariable()}"`,
    ...headers.map((header) => `--header ${shellWord(header)}`),
    ...(body === undefined ? [] : [`--data ${shellWord(body)}`]),
  ].join(' \\\n  ')
}

/** A query with the typed client. */
export function typeScriptOf({ procedure, input }: Call): string {
  const values = entriesOf(Object(input)).map(
    ([name, value]) => `${name}: ${jsonOf(value)}${typeof value === 'bigint' ? 'n' : ''}`,
  )
  return `await client.${procedure}.query(${values.length > 0 ? `{ ${values.join(', ')} }` : ''})`
}

/** A word of a POSIX shell. The text must not contain NUL. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** JSON with every digit of a `bigint`, on one line. With an indent, each element and each field is on a line of its own. */
export function jsonOf(value: unknown, indent = '', margin = ''): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return visibleJsonOf(value)
  const inner = margin + indent
  const entries = Array.isArray(value)
    ? value.map((each) => jsonOf(each, indent, inner))
    : entriesOf(value).map(([name, each]) => `${visibleJsonOf(name)}:${indent && ' '}${jsonOf(each, indent, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (indent === '' || entries.length === 0) return `${open}${entries}${close}`
  return `${open}\n${entries.map((entry) => inner + entry).join(',\n')}\n${margin}${close}`
}

/** Control characters, bidirectional controls and line separators change how the text around them looks. */
const invisible = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

/** The JSON of a value without fields. It shows what a text contains: invisible characters are escaped. */
function visibleJsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    invisible,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
