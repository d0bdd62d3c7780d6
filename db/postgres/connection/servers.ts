import { setTimeout as wait } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import { hostOf, serverUrls } from '../../location.ts'
import { connectClient, type ServerChoice } from './connection.ts'
import { NoPrimary } from './failure.ts'
import { abandon, findNewest, locate, type Position, reasonAgainst, stateOf } from './primary.ts'

/** Milliseconds between two looks at the other servers. It limits how long an instance uses a server that was replaced. */
const watchInterval = 2_000
/** Milliseconds between two searches while no server accepts writes. */
const searchInterval = 250
/** Milliseconds for a server to respond. */
const responseTime = 2_000

/**
 * Knows which of several servers accepts writes, and closes the connections to the others. It never returns to an older
 * timeline: such a server was replaced by a promotion, and what it still accepts is lost when it becomes a standby.
 */
export class Servers implements ServerChoice {
  readonly #urls: string[]
  readonly #onChange: (message: string) => void
  readonly #clients = new Map<Client, Position>()
  /** The newest server that accepted writes. */
  #newest: Position | undefined
  /** The server that accepts writes. Undefined while there is none. */
  #current: Position | undefined
  #problem = new NoPrimary([])
  /** Aborted when the current server may not accept writes any more. */
  #trust = new AbortController()
  #isClosed = false

  /** @param onChange called with a sentence for the operator when the service changes to another server. */
  static async open(url: string, onChange: (message: string) => void = () => {}): Promise<Servers> {
    const servers = new Servers(url, onChange)
    await servers.#search()
    void servers.#watch()
    return servers
  }

  private constructor(url: string, onChange: (message: string) => void) {
    this.#urls = serverUrls(url)
    this.#onChange = onChange
  }

  /** The class of a connection in a pool. It connects to the current server, and fails at once while there is none. */
  clientClass() {
    const [servers, [firstUrl]] = [this, this.#urls]
    return class extends Client {
      readonly #server: Position | undefined

      constructor(config?: ClientConfig) {
        const server = servers.#current
        super({ ...config, connectionString: server?.url ?? firstUrl })
        this.#server = server
      }

      override connect(): Promise<Client>
      override connect(callback: ((error: Error) => void) | ((error: null, client: Client) => void)): void
      override connect(given?: ((error: Error) => void) | ((error: null, client: Client) => void)): Promise<Client> {
        // Safe: pg calls it with both, although its types have two kinds of callbacks.
        const callback = given as ((error: Error | null, client: Client) => void) | undefined
        if (this.#server) servers.#track(this, this.#server)
        const connected = this.#server ? super.connect() : Promise.reject(servers.#problem)
        connected.then(
          () => callback?.(null, this),
          (error) => callback?.(error, this),
        )
        return connected
      }
    }
  }

  /** Opens a connection outside the pool, which is closed when the server changes. */
  async connect(): Promise<Client> {
    const server = this.#current
    if (!server) throw this.#problem
    const client = await connectClient(server.url)
    this.#track(client, server)
    try {
      await this.verify(client)
      return client
    } catch (error) {
      abandon(client)
      throw error
    }
  }

  async verify(client: Client): Promise<void> {
    const server = this.#clients.get(client)
    if (!server || server !== this.#newest) throw new Error('Connection terminated unexpectedly')
    try {
      const reason = reasonAgainst(await locate(client, server.url), this.#newest)
      if (reason) throw new Error(reason)
    } catch (error) {
      throw new NoPrimary([stateOf(server.url, error)])
    }
  }

  suspect(): void {
    this.#trust.abort()
  }

  close(): void {
    this.#isClosed = true
    this.#trust.abort()
  }

  #track(client: Client, server: Position): void {
    this.#clients.set(client, server)
    client.once('end', () => this.#clients.delete(client))
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      const { signal } = this.#trust
      await (this.#current && !signal.aborted
        ? wait(watchInterval, undefined, { signal, ref: false }).catch(() => {})
        : wait(searchInterval, undefined, { ref: false }))
      if (!this.#isClosed) await this.#search()
    }
  }

  async #search(): Promise<void> {
    const trusted = this.#trust.signal.aborted ? undefined : this.#current
    this.#trust = new AbortController()
    const urls = this.#urls.filter((url) => url !== trusted?.url)
    const { newest, others } = await findNewest(urls, { query_timeout: responseTime }, this.#newest)
    if (newest) abandon(newest.client)
    if (this.#isClosed) return
    if (newest && newest.timeline > (trusted?.timeline ?? -1)) return this.#use(newest)
    if (trusted) return
    this.#problem = new NoPrimary(others)
    this.#current = undefined
  }

  #use({ url, system, timeline }: Position): void {
    const server = { url, system, timeline }
    const previous = this.#newest
    const isSame = previous?.url === server.url && previous.timeline === server.timeline
    this.#current = isSame ? previous : server
    this.#newest = this.#current
    if (isSame || !previous) return
    for (const [client, used] of this.#clients) if (used !== server) abandon(client)
    this.#onChange(`The service changed from PostgreSQL at ${hostOf(previous.url)} to ${hostOf(server.url)}.`)
  }
}
