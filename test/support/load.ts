import { setTimeout as wait } from 'node:timers/promises'
import { connectRestClient, type RestClient, type RestResponse } from '../../engine/test/support/rest-client.ts'

/** Milliseconds. Some faults take long on a busy machine. */
const maxRetryTime = 120_000

const writers = 8
export const readers = 2

interface LoadOptions {
  /** Whether acknowledged pets may be lost. The retry of such a create makes another pet. */
  mayLose: boolean
  /** Whether lists may lack pets that were acknowledged before. */
  mayBeStale: boolean
}

/** The longest times without a success at each URL, in milliseconds. */
class Gaps {
  readonly #since = new Map<string, number>()
  readonly #longest = new Map<string, number>()

  constructor(urls: string[]) {
    for (const url of urls) this.#since.set(url, performance.now())
  }

  /** The longest one of all URLs, the present one included. */
  get longest(): number {
    for (const url of this.#since.keys()) this.end(url, false)
    return Math.max(...this.#longest.values())
  }

  end(url: string, isSuccess = true): void {
    const now = performance.now()
    this.#longest.set(url, Math.max(this.#longest.get(url) ?? 0, now - (this.#since.get(url) ?? now)))
    if (isSuccess) this.#since.set(url, now)
  }

  /** Forgets the gaps before. */
  restart(): void {
    for (const url of this.#since.keys()) this.end(url)
    this.#longest.clear()
  }
}

/**
 * Clients that create pets with the name as the idempotency key, and clients that read all pages of the list. They retry
 * after a 503 or a closed connection until they succeed. Every other failure is a fault.
 */
export function startLoad(urls: string[], key: string, { mayLose, mayBeStale }: LoadOptions) {
  /** Ids of pets by name. */
  const acknowledged = new Map<string, number>()
  const load = {
    acknowledged,
    /** When each pet was acknowledged, in milliseconds of `performance.now()`. */
    acknowledgedAt: new Map<string, number>(),
    faults: [] as string[],
    passes: 0,
    gaps: { writes: new Gaps(urls), reads: new Gaps(urls) },
    reach,
    stop,
  }
  let isStopping = false
  const urlOf = (index: number) => urls[index % urls.length] ?? ''

  async function retry(send: () => Promise<RestResponse>): Promise<RestResponse> {
    for (const deadline = performance.now() + maxRetryTime; performance.now() < deadline; await wait(75)) {
      const outcome = await send().catch((error: Error) => error)
      if (!(outcome instanceof Error) && outcome.status < 300) return outcome
      if (!isExpected(outcome))
        load.faults.push(outcome instanceof Error ? String(outcome) : `${outcome.status} ${outcome.text}`)
    }
    throw new Error('A request was retried for too long.')
  }
  async function create(name: string, caller: RestClient): Promise<number> {
    const headers = { 'idempotency-key': name }
    const created = await retry(() => caller.post('/v1/pets', { name, categoryId: 1 }, headers))
    return JSON.parse(created.text).id
  }
  async function write(index: number): Promise<void> {
    // Some clients send each request twice at the same time.
    const callers = Array.from({ length: index % 4 === 0 ? 2 : 1 }, () => connectRestClient(urlOf(index), key))
    for (let i = 0; !isStopping; i++) {
      await wait(5)
      const name = `${index}-${i}`
      const [id = 0, again = id] = await Promise.all(callers.map((caller) => create(name, caller)))
      if (again !== id && !mayLose) load.faults.push(`${name} is both ${id} and ${again}.`)
      acknowledged.set(name, id)
      load.acknowledgedAt.set(name, performance.now())
      load.gaps.writes.end(urlOf(index))
    }
  }
  async function read(index: number): Promise<void> {
    for (const caller = connectRestClient(urlOf(index), key); !isStopping; load.passes++) {
      const expected = new Set(acknowledged.values())
      const ids = await readAllPages(urlOf(index), async (path) => {
        const page = await retry(() => caller.get(path))
        load.gaps.reads.end(urlOf(index))
        return page
      })
      const misplaced = ids.filter((id, index) => id <= (ids[index - 1] ?? 0))
      if (misplaced.length > 0) load.faults.push(`The list is out of order at ${misplaced}.`)
      const missing = expected.difference(new Set(ids))
      if (missing.size > 0 && !mayBeStale) load.faults.push(`The list lacks ${[...missing]}.`)
    }
  }
  const all = Promise.all([
    ...Array.from({ length: writers }, (_, index) => write(index)),
    ...Array.from({ length: readers }, (_, index) => read(index)),
  ]).catch((error: Error) => load.faults.push(String(error)))

  /** Waits for this number of further pets, or for a fault. */
  async function reach(pets: number): Promise<void> {
    const enough = acknowledged.size + pets
    while (acknowledged.size < enough && load.faults.length === 0) await wait(5)
  }
  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  return load
}

function isExpected(outcome: RestResponse | Error): boolean {
  if (outcome instanceof Error) return 'code' in outcome && outcome.code === 'ECONNRESET'
  return outcome.status === 503 && outcome.headers['retry-after'] === '1'
}

/** Reads the ids of all pages. Throws if a link leads elsewhere than to this URL. */
async function readAllPages(url: string, get: (path: string) => Promise<RestResponse>): Promise<number[]> {
  const ids: number[] = []
  for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined; ) {
    const { headers, text }: RestResponse = await get(path)
    ids.push(...JSON.parse(text).map(({ id }: { id: number }) => id))
    const link = /<([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1]
    if (link !== undefined && !link.startsWith(`${url}/`)) throw new Error(`The link ${link} does not lead to ${url}.`)
    path = link?.slice(url.length)
  }
  return ids
}
