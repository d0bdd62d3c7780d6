import { expect, onTestFinished } from 'vitest'
import { connectRestClient, type RestClient, type RestResponse } from './rest-client.ts'
import type { SampleRow } from './tested.ts'

/** Callers, of which every fourth one opens a connection for each request. */
export const callers = 16

/**
 * Callers that create, get and list at random without a pause, at most until the test ends. They repeat only requests on new
 * connections that are reset: a listener that closes loses those that the kernel has not handed over yet.
 *
 * @param keepAlive whether the caller of this index keeps its connection open. By default, every fourth opens one for each request.
 */
export function startLoad(
  { table, text, json }: SampleRow,
  url: string,
  key: string,
  { count = callers, keepAlive = (index: number) => index % 4 !== 0 } = {},
) {
  const failures: string[] = []
  const acknowledged: string[] = []
  const load = { requests: 0, resets: 0, failures, acknowledged, reach, stop }
  let isStopping = false

  async function call(caller: RestClient, own: string): Promise<void> {
    const created = await caller.post(`/v1/${table}`, { ...JSON.parse(json), [text]: own })
    if (expectStatus(created, 201)) load.acknowledged.push(own)
    expectStatus(await caller.get(String(created.headers.location)), 200)
    const id = Number(created.headers.location?.split('/').at(-1))
    expectStatus(await caller.get(`/v1/${table}?limit=5&cursor=${Math.floor(Math.random() * id)}`), 200)
  }
  function expectStatus({ status, text }: RestResponse, expected: number): boolean {
    load.requests++
    if (status !== expected) load.failures.push(`${status} ${text}`)
    return status === expected
  }
  async function run(index: number): Promise<void> {
    const caller = connectRestClient(url, key, { keepAlive: keepAlive(index), onReset: () => void load.resets++ })
    for (let i = 0; !isStopping; i++) {
      await call(caller, `${index}-${i}`).catch((error: Error) => load.failures.push(`${error}`))
    }
  }
  const all = Promise.all(Array.from({ length: count }, (_, index) => run(index)))

  async function reach(requests: number): Promise<void> {
    await expect.poll(() => load.requests, { timeout: 300_000, interval: 20 }).toBeGreaterThan(requests)
  }
  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  onTestFinished(stop)
  return load
}
