import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  retryLink,
  splitLink,
  TRPCClientError,
  type TRPCLink,
} from '@trpc/client'
import superjson from 'superjson'
import type { AppRouter } from '../../../server/router.ts'

/** Calls the service through each of tRPC's HTTP links. Runs in a page of another origin. */

interface Options {
  url: string
  headers: Record<string, string>
  transformer: typeof superjson
}

const links: Record<string, (options: Options) => TRPCLink<AppRouter>[]> = {
  httpLink: (options) => [httpLink(options)],
  httpBatchLink: (options) => [httpBatchLink(options)],
  httpBatchStreamLink: (options) => [httpBatchStreamLink(options)],
  'httpBatchStreamLink by accept': (options) => [httpBatchStreamLink({ ...options, streamHeader: 'accept' })],
  splitLink: (options) => [
    splitLink({
      condition: ({ type }) => type === 'mutation',
      true: httpLink(options),
      false: httpBatchStreamLink(options),
    }),
  ],
  retryLink: (options) => [retryLink({ retry: ({ attempts }) => attempts < 2 }), httpBatchLink(options)],
}

export const linkNames = Object.keys(links)

/** Adds a pet. Then reads it, reads a pet that does not exist, and lists pets with a wrong key, all at once. */
export async function callThrough(name: string, url: string, apiKey: string): Promise<unknown[]> {
  const { pets } = clientOf(name, url, apiKey, { 'idempotency-key': crypto.randomUUID() })
  const { id, ...rex } = await pets.create.mutate({ name, categoryId: 9007199254740993n })
  const read = clientOf(name, url, apiKey).pets
  const results = await Promise.allSettled([
    read.get.query({ petId: id }),
    read.get.query({ petId: 0n }),
    clientOf(name, url, 'wrong').pets.list.query(),
  ])
  return [String(rex.categoryId), ...results.map(describe)]
}

function clientOf(name: string, url: string, apiKey: string, headers: Record<string, string> = {}) {
  const options = { url: `${url}/trpc`, headers: { authorization: `Bearer ${apiKey}`, ...headers } }
  return createTRPCClient<AppRouter>({ links: links[name]?.({ ...options, transformer: superjson }) ?? [] })
}

function describe(result: PromiseSettledResult<{ name: string } | unknown[]>): unknown {
  if (result.status === 'fulfilled') return 'name' in result.value ? result.value.name : result.value
  const { reason } = result
  return reason instanceof TRPCClientError ? (reason.data?.code ?? reason.message) : String(reason)
}
