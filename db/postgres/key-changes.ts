import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { connectClient } from './connection.ts'

/** Milliseconds between two attempts to listen. */
const pause = 1_000

/** Hears of each change of an API key, whichever instance or person makes it, on a connection of its own. */
export class KeyChanges {
  readonly #url: string
  readonly #onChange: () => void
  #client: Client | undefined
  #isListening = false
  readonly #closing = new AbortController()
  #ended: Promise<void> | undefined

  /** @param onChange called after a change, and where one may have been missed */
  constructor(url: string, onChange: () => void) {
    this.#url = url
    this.#onChange = onChange
  }

  /** Listens from now on. */
  start(): void {
    this.#ended ??= this.#listen()
  }

  /** While this does not hold, nobody tells of changes. */
  get isListening(): boolean {
    return this.#isListening
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#client?.end()
    await this.#ended
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        const client = await connectClient(this.#url)
        this.#client = client
        const ended = new Promise<void>((resolve) => client.once('end', resolve))
        client.on('notification', this.#onChange)
        await client.query('LISTEN api_keys')
        this.#onChange()
        this.#isListening = !signal.aborted
        if (this.#isListening) await ended
      } catch {
        // Requests that need the database report the failure.
      }
      this.#isListening = false
      this.#onChange()
      await this.#client?.end().catch(() => {})
      await wait(pause, undefined, { signal }).catch(() => {})
    }
  }
}
