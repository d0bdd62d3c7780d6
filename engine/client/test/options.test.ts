import { expect, onTestFinished, test, vi } from 'vitest'
import { createNotesClient, startTestApi } from '../../test/notes/fixtures.ts'
import { fetchFrom } from '../../test/support/transport.ts'

const url = 'http://service.test'

const ends = (all: string[]) => all.map((end) => ({ url: url + end }))
const refused: [message: string, options: object[]][] = [
  [
    'The url of the service is invalid: expected a URL such as http://host:port.',
    ['', '/notes', 'localhost:3000', 'ftp://service.test', 'service.test'].map((url) => ({ url })),
  ],
  [
    'The url of the service must end before ?, #, /v1 and /trpc.',
    ends(['#key=note_secret', '?x=note_secret', '/v1', '/v1/', '/v1//', '/trpc', '/shop/trpc']),
  ],
  ['The url of the service must not hold white space or a backslash.', ends(['/a b', ' ', '\n', '\\shop'])],
  [
    'The url of the service must not hold a user name or password: pass the API key as apiKey.',
    [{ url: 'http://user:pa@ss@service.test' }],
  ],
  ['The apiKey is missing: pass an API key of the service.', [undefined, '', ' '].map((apiKey) => ({ apiKey }))],
  [
    'The apiKey contains a character that no API key has: copy it again from where it was printed.',
    ['note_✓', 'note_ö', 'note_ 1', 'note_\n1'].map((apiKey) => ({ apiKey })),
  ],
  ...['retries', 'maxPause', 'timeout'].map((name): [string, object[]] => [
    `The option ${name} must be a number, and not negative.`,
    [{ [name]: Number.NaN }],
  ]),
]

test.for(refused)('a client is refused when it is created: %s', ([message, all]) => {
  for (const options of all)
    expect(() => createNotesClient({ url, apiKey: 'none', ...options })).toThrow(new TypeError(message))
})

test('an API key may have line breaks around it, as files have', async () => {
  const { app, key } = await startTestApi()
  const client = createNotesClient({ url, apiKey: `\n${key}\n`, fetch: fetchFrom(app) })
  expect(await client.notes.list.query()).toEqual([])
})

test('in a browser the URL may be relative to the page', async () => {
  vi.stubGlobal('location', new URL('http://service.test/shop'))
  onTestFinished(() => void vi.unstubAllGlobals())
  const { app, key } = await startTestApi()
  const paths: string[] = []
  const fetch: typeof globalThis.fetch = (input, init) => {
    paths.push(String(input))
    return fetchFrom(app)(new URL(String(input), 'http://service.test'), init)
  }
  await createNotesClient({ url: '/', apiKey: key, fetch }).notes.list.query()
  expect(paths).toEqual([expect.stringMatching(/^\/trpc\/notes.list/)])
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
