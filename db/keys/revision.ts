import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'

/** Milliseconds for which a revision holds, in case the connection has failed silently and notifications are lost. */
const maxAge = 2_000
/** Milliseconds between two attempts to listen. */
const retryInterval = 1_000

/**
 * The version counter of the API keys. A trigger notifies all instances of each change of a key. They listen on
 * a connection of their own.
 */
export class KeyRevision {
  readonly #connect: () => Promise<Client>
  readonly #closing = new AbortController()
  #listening: Promise<void> | undefined
  #isListening = false
  #revision = 0
  #renewedAt = 0

  constructor(connect: () => Promise<Client>) {
    this.#connect = connect
  }

  /** Undefined while notifications cannot be received. The first call starts to listen. */
  current(): number | undefined {
    this.#listening ??= this.#listen()
    if (!this.#isListening) return undefined
    if (performance.now() - this.#renewedAt > maxAge) this.renew()
    return this.#revision
  }

  renew(): void {
    this.#revision++
    this.#renewedAt = performance.now()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#listening
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      // Requests that need the database report the failure.
      await this.#listenOnce(signal).catch(() => {})
      await wait(retryInterval, undefined, { signal }).catch(() => {})
    }
  }

  /** Rejects when the connection fails, or is closed by the signal. */
  async #listenOnce(signal: AbortSignal): Promise<void> {
    const client = await this.#connect()
    try {
      client.on('notification', () => this.renew())
      await client.query('LISTEN api_keys')
      this.renew()
      this.#isListening = true
      await once(client, 'end', { signal })
    } finally {
      this.#isListening = false
      await client.end()
    }
  }
}
