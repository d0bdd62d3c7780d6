import { isDeepStrictEqual } from 'node:util'
import { type Target, type Workload, workloads } from '../workloads.ts'

/**
 * Checks that the servers return the same pets for a request of a workload, so that none gets an easier task. The
 * databases must have equal contents. A workload that begins with a create is not checked.
 */
export async function expectSameResponses(workload: Workload, targets: Target[]): Promise<void> {
  const [first, ...others] = targets
  if (!first) return
  const path = /^GET (\S+)/.exec(workloads[workload](first)().toString())?.[1]
  if (path === undefined) return
  const expected = await bodyOf(path, first)
  for (const target of others) {
    if (!isDeepStrictEqual(await bodyOf(path, target), expected))
      throw new Error(`The servers at the ports ${first.port} and ${target.port} respond differently to ${path}.`)
  }
}

async function bodyOf(path: string, { port, key }: Target): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } })
  if (!response.ok) throw new Error(`The server at port ${port} responded with ${response.status} to ${path}.`)
  // superjson lists here which integers are equal. tRPC's adapter writes the list, the service does not.
  const withoutEqualities = (name: string, value: unknown) => (name === 'referentialEqualities' ? undefined : value)
  return JSON.parse(await response.text(), withoutEqualities)
}
