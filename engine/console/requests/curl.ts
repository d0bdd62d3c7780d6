import { textOf } from '#service/fields'
import { entriesOf, searchOf, type Values } from '../resource.ts'
import { keyVariable, serviceUrl } from '../service.ts'
import type { Procedure } from './procedures.ts'

/** A call of a procedure. */
export interface Call {
  /** Such as `toys.list`. */
  procedure: string
  input: unknown
  idempotencyKey: string | undefined
}

interface RestRequest {
  method: string
  /** Path and query, relative to the address of the service. */
  path: string
  headers?: string[]
  body?: string
}

type Procedures = Readonly<Record<string, Procedure>>

/** A call as a request of the REST API. Undefined if only the RPC API has the procedure. */
export function restRequestOf(
  procedures: Procedures,
  { procedure, input, idempotencyKey }: Call,
): RestRequest | undefined {
  const { method, path } = procedures[procedure] ?? {}
  if (method === undefined || path === undefined) return undefined
  const isInPath = (name: string) => path.includes(`{${name}}`)
  const values: Values = Object(input)
  const others = Object.fromEntries(entriesOf(values).filter(([name]) => !isInPath(name)))
  const url = `/v1${path.replaceAll(/\{(\w+)\}/g, (_parameter, name) => encodeURIComponent(textOf(values[name])))}`
  const headers = idempotencyKey === undefined ? [] : [`Idempotency-Key: ${idempotencyKey}`]
  if (method === 'GET' || method === 'DELETE') return { method, path: url + searchOf(others), headers }
  return { method, path: url, headers: ['Content-Type: application/json', ...headers], body: jsonOf(others) }
}

/** The command that sends the request of a call: `curl` or, if only the RPC API has the procedure, TypeScript. */
export function commandOf(procedures: Procedures, call: Call): string {
  const request = restRequestOf(procedures, call)
  return request ? curlOf(request) : typeScriptOf(procedures, call)
}

/** A command for a POSIX shell, which reads the API key from the environment. */
export function curlOf({ method, path, headers = [], body }: RestRequest, url = serviceUrl()): string {
  const isUsual = method === (body === undefined ? 'GET' : 'POST')
  return [
    `curl ${isUsual ? '' : `--request ${method} `}${shellWord(url + path)}`,
    // Double quotes expand the variable.
    `--header "Authorization: Bearer $${keyVariable()}"`,
    ...headers.map((header) => `--header ${shellWord(header)}`),
    ...(body === undefined ? [] : [`--data ${shellWord(body)}`]),
  ].join(' \\\n  ')
}

/** What is said above such a command. */
export function commandLabel(): string {
  return `A request, with your API key in ${keyVariable()}`
}

/** A call with the typed client. */
function typeScriptOf(procedures: Procedures, { procedure, input }: Call): string {
  const method = procedures[procedure]?.type === 'mutation' ? 'mutate' : 'query'
  return `await client.${procedure}.${method}(${entriesOf(Object(input)).length > 0 ? literalOf(input) : ''})`
}

/** A value in TypeScript, whose names need no quotes. */
function literalOf(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Date) return `new Date(${visibleJsonOf(value)})`
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return visibleJsonOf(value)
  return `{ ${entriesOf(value)
    .map(([name, each]) => `${name}: ${literalOf(each)}`)
    .join(', ')} }`
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
