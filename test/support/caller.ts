import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

/**
 * A caller with one connection, which it keeps as long as it may, unless it is to open one for each request. It never
 * repeats a request unasked.
 */
export class Caller {
  readonly #agent: Agent
  readonly #url: string
  readonly #headers: Record<string, string>

  constructor(url: string, key: string, { keepAlive = true } = {}) {
    this.#agent = new Agent({ keepAlive, maxSockets: 1 })
    this.#url = url
    this.#headers = { authorization: `Bearer ${key}` }
    onTestFinished(() => this.#agent.destroy())
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, headers)
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const content = typeof body === 'string' ? body : JSON.stringify(body)
    return this.send('POST', path, { 'content-type': 'application/json', ...headers }, content)
  }

  /** Sends the key unless the headers hold an `authorization`. */
  async send(method: string, path: string, headers: Record<string, string>, content?: string): Promise<Answer> {
    const options = { method, agent: this.#agent, headers: { ...this.#headers, ...headers } }
    const sent = request(this.#url + path, options)
    sent.end(content)
    const [response]: [IncomingMessage] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
  }
}
