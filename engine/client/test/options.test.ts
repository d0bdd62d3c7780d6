import { expect, onTestFinished, test, vi } from 'vitest'
import { createNotesClient, startTestApi } from '../../test/notes/tests.ts'
import { fetchFrom } from '../../test/support/transport.ts'

const url = 'http://service.test'

test.for([
  ...['#key=note_secret', '?x=note_secret', '/v1', '/v1/', '/v1//', '/trpc', '/shop/trpc'].map((end) => [
    end,
    'end before ?, #, /v1 and /trpc',
  ]),
  ...['/a b', ' ', '\n', '\\shop'].map((end) => [end, 'not hold white space or a backslash']),
])('the client rejects a URL that ends with %j, and does not show it', ([end, rule]) => {
  const create = () => createNotesClient({ url: url + end, apiKey: 'none' })
  expect(create).toThrow(new TypeError(`The url of the service must ${rule}.`))
})

test.for(['retries', 'maxPause', 'timeout'])('the client rejects NaN as %s', (option) => {
  const create = () => createNotesClient({ url, apiKey: 'none', [option]: Number.NaN })
  expect(create).toThrow(new TypeError(`The option ${option} must be a number, and not negative.`))
})

test('a further header in other case does not change that of the client', async () => {
  const { app, key } = await startTestApi()
  const headers = () => ({ Authorization: 'Basic x', 'Idempotency-Key': 'x' })
  const client = createNotesClient({ url, apiKey: key, fetch: fetchFrom(app), headers })
  expect(await client.notes.list.query()).toEqual([])
  for (const body of ['Ann', 'Bo']) await client.notes.create.mutate({ body, priority: 7n })
})

test('the signal of one query ends it while another query of the same tick goes on', async () => {
  const { app, key } = await startTestApi()
  const open = Promise.withResolvers<void>()
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const aborted = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
    await Promise.race([open.promise, aborted])
    return fetchFrom(app)(input, init)
  }
  const client = createNotesClient({ url, apiKey: key, retries: 0, fetch })
  const abort = new AbortController()
  const ended = client.notes.list.query({}, { signal: abort.signal })
  const other = client.notes.list.query({ limit: 1 })
  setTimeout(() => abort.abort())
  await expect(ended).rejects.toThrow(/abort/)
  open.resolve()
  expect(await other).toEqual([])
})

test('the client works without URL.canParse and AbortSignal.any, which older browsers lack', async () => {
  const { canParse } = URL
  const { any } = AbortSignal
  onTestFinished(() => void Object.assign(URL, { canParse }))
  onTestFinished(() => void Object.assign(AbortSignal, { any }))
  Object.assign(URL, { canParse: undefined })
  Object.assign(AbortSignal, { any: undefined })
  const fetch = async () => new Response('{"result":{"data":{"json":[]}}}')
  const client = createNotesClient({ url, apiKey: 'none', fetch, retries: 0 })
  const { signal } = new AbortController()
  expect(await client.notes.list.query({}, { signal })).toEqual([])
})

test('without crypto, the client is not created', () => {
  vi.stubGlobal('crypto', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(() => createNotesClient({ url, apiKey: 'none' })).toThrow(/^The client needs crypto\.getRandomValues/)
})

test('a number where a bigint is expected is named', async () => {
  const { rpc } = await startTestApi()
  // Safe: the test is for programs in JavaScript.
  const seven = 7 as unknown as bigint
  const calls = [
    () => rpc.notes.create.mutate({ body: 'Ann', priority: seven }),
    () => rpc.notes.list.query({ cursor: seven }),
    () => rpc.notes.get.query({ noteId: seven }),
    () => rpc.notes.search.query({ id: seven }),
  ]
  for (const call of calls) await expect(call()).rejects.toThrow(/: expected a bigint such as 7n, got a number$/)
})
