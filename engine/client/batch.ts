/** Of tRPC's `fetch`. */
type Init = Pick<RequestInit, 'headers' | 'body'>
type Send = (url: string, init: object) => Promise<Response>

interface Call {
  url: string
  init: Init
  resolve: (response: Response) => void
  reject: (error: unknown) => void
}

/**
 * Mutations that are sent as one request: those that are called at once, with the batch in their contexts. Each has an
 * idempotency key and gets a response of its own. Their signals are ignored.
 */
export class Batch {
  readonly #size: number
  readonly #calls: Call[] = []

  /** @param size the number of calls that are sent without a pause, of which a service takes at most 20 in a request */
  constructor(size: number) {
    this.#size = size
  }

  /** The response to one of the calls. */
  fetch(send: Send, url: string, init: Init): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ url, init, resolve, reject })
      const sendThem = () => void sendAll(send, this.#calls.splice(0))
      if (this.#calls.length === this.#size) sendThem()
      // Those that are missing may have failed before they were sent.
      else if (this.#calls.length === 1) setTimeout(sendThem)
    })
  }
}

async function sendAll(send: Send, calls: Call[]): Promise<void> {
  const [first] = calls
  if (!first) return
  try {
    if (calls.length === 1) return first.resolve(await send(first.url, first.init))
    const names = calls.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))
    const keys = calls.map(({ init }) => quoted(new Headers(init.headers).get('idempotency-key') ?? ''))
    const headers = new Headers(first.init.headers)
    headers.set('idempotency-key', keys.join(', '))
    const body = `{${calls.map(({ init }, call) => `"${call}":${init.body}`).join()}}`
    const url = `${first.url.slice(0, first.url.lastIndexOf('/'))}/${names.join()}?batch=1`
    const response = await send(url, { method: 'POST', headers, body })
    const json: unknown = await response.json()
    const replayed = response.headers.get('idempotency-replayed')?.split(', ') ?? []
    const { status, headers: all } = response
    const others = new Headers(all)
    others.delete('idempotency-replayed')
    for (const [call, { resolve }] of calls.entries()) {
      const own = new Response(null, { status, headers: replayed[call] === 'true' ? all : others })
      // Reading a body would take longer than the call. An error of the whole request is that of each call.
      resolve(Object.assign(own, { json: async () => (Array.isArray(json) ? json[call] : json) }))
    }
  } catch (error) {
    for (const { reject } of calls) reject(error)
  }
}

/** A key as a string of RFC 9651. A caller may have quoted it already. */
function quoted(key: string): string {
  return key.startsWith('"') ? key : `"${key.replaceAll(/["\\]/g, '\\$&')}"`
}
