import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { HTTPMethods } from 'fastify'
import { onTestFinished } from 'vitest'
import { parseJson, writeJson } from '../../service/api/literals.ts'

export interface RestRequest {
  /** GET by default. */
  method?: HTTPMethods
  url: string
  headers?: Record<string, string>
  payload?: string | Buffer
}

export interface RestResponse {
  status: number
  headers: Record<string, string>
  /** The unparsed body. */
  text: string
  /** The parsed body, if it is JSON. Integers beyond 2^53 are `bigint`. */
  body: unknown
}

/** Sends REST requests with an API key, unless the headers contain `authorization`. */
export interface RestClient {
  get(url: string, headers?: Record<string, string>): Promise<RestResponse>
  /** A string is sent unchanged, any other value as exact JSON. */
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<RestResponse>
  patch(url: string, body?: unknown, headers?: Record<string, string>): Promise<RestResponse>
  send(request: RestRequest): Promise<RestResponse>
}

/** Sends a request through a socket or without one. */
export type Send = (request: RestRequest) => Promise<Omit<RestResponse, 'body'>>

export function createRestClient(transport: Send, key: string): RestClient {
  async function send({ headers, ...request }: RestRequest): Promise<RestResponse> {
    const response = await transport({ ...request, headers: { authorization: `Bearer ${key}`, ...headers } })
    const isJson = response.headers['content-type']?.startsWith('application/json') && response.text !== ''
    return { ...response, body: isJson ? parseJson(response.text) : undefined }
  }

  const sender =
    (method: 'POST' | 'PATCH'): RestClient['post'] =>
    (url, body, headers = {}) =>
      send({
        method,
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : writeJson(body),
      })
  return { send, get: (url, headers = {}) => send({ url, headers }), post: sender('POST'), patch: sender('PATCH') }
}

interface ConnectOptions {
  keepAlive?: boolean
  /** Called before the repetition of a request on a new connection that was reset. Without it, no request is repeated. */
  onReset?: () => void
}

/** A client of the service at this URL. It uses one connection at a time. */
export function connectRestClient(
  url: string,
  key: string,
  { keepAlive = true, onReset }: ConnectOptions = {},
): RestClient {
  const agent = new Agent({ keepAlive, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return createRestClient(async (request) => {
    for (;;) {
      try {
        return await sendTo(url, request, agent)
      } catch (error) {
        if (!onReset || !isResetOfNewConnection(error)) throw error
        onReset()
      }
    }
  }, key)
}

/** Not if the server closed the connection without a response: that error has the same code, but no system call. */
function isResetOfNewConnection(error: unknown): boolean {
  const { code, syscall, reusedSocket } = Object(error)
  return code === 'ECONNRESET' && syscall !== undefined && reusedSocket === false
}

/** Sends a request through a socket. */
export async function sendTo(
  origin: string,
  { method = 'GET', url, headers = {}, payload }: RestRequest,
  agent?: Agent,
): ReturnType<Send> {
  const sent = request(origin + url, { method, headers, ...(agent && { agent }) })
  sent.end(payload)
  // Safe: Node emits `response` with one IncomingMessage.
  const [response] = (await once(sent, 'response').catch((error: Error) => {
    throw Object.assign(error, { reusedSocket: sent.reusedSocket })
  })) as [IncomingMessage]
  return {
    status: response.statusCode ?? 0,
    headers: joinHeaders(response.headers),
    text: await text(response),
  }
}

/** Headers as strings. Repeated ones are joined with commas. */
export function joinHeaders(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
