import type { InjectOptions } from 'fastify'
import { describe, expect, test } from 'vitest'
import { addPets, shareTestApi } from '../support/petstore.ts'

/** Inputs that a lenient decoder would change or ignore, through each form of an RPC request. */

const shared = shareTestApi()

const stream = { 'trpc-accept': 'application/jsonl' }
const post = (url: string, payload: string, headers = {}): InjectOptions => ({
  method: 'POST',
  url: `/trpc/pets.create${url}`,
  payload,
  headers: { 'content-type': 'application/json', ...headers },
})
const get = (query: string, input: string, headers = {}): InjectOptions => ({
  url: `/trpc/pets.list?${query}input=${encodeURIComponent(input)}`,
  headers,
})

/** How an input reaches the service: of the mutation `pets.create` or of the query `pets.list`. */
const forms: Record<string, (input: string) => InjectOptions> = {
  POST: (input) => post('', input),
  'a batch by POST': (input) => post('?batch=1', `{"0":${input}}`),
  'a stream by POST': (input) => post('?batch=1', `{"0":${input}}`, stream),
  GET: (input) => get('', input),
  'a batch by GET': (input) => get('batch=1&', `{"0":${input}}`),
  'a stream by GET': (input) => get('batch=1&', `{"0":${input}}`, stream),
}

/** The tests of the decoder have more of them: engine/service/test/procedures/superjson-input.test.ts. */
const inputs: string[] = [
  ...['9007199254740993', 'null', '"7.0"', '"0x7"', `"${'9'.repeat(41)}"`].map((value) => annotated(value, 'bigint')),
  annotated('"7"', 'number'),
  annotated('7', 'undefined'),
  ...['owner', '__proto__.polluted', ''].map((path) => withValues(`{"${path}":["undefined"]}`)),
  // No envelope, or more than that.
  ...['{}', '[]', 'null', '{"name":"Rex","categoryId":"7"}', '{"json":{"limit":1},"status":"sold"}'],
]

test.for(Object.entries(forms))(
  'by %s, an input that is not exactly superjson is refused: 400',
  async ([form, requestWith]) => {
    const { app, key, store } = shared()
    for (const input of inputs) {
      const { headers, ...request } = requestWith(input)
      const authorization = `Bearer ${key}`
      const { statusCode, payload } = await app.inject({ ...request, headers: { ...headers, authorization } })
      expect(statusCode, input).toBe(form.startsWith('a stream') ? 207 : 400)
      expect(payload, input).toContain('The input is not valid superjson: ')
      expect(payload, input).toContain('"invalid_request"')
    }
    expect(await store.pets.list({ limit: 1, cursor: 0n })).toEqual([])
  },
)

function annotated(value: string, type: string): string {
  return `{"json":{"name":"Rex","categoryId":${value},"cursor":${value}},"meta":{"values":{"categoryId":["${type}"],"cursor":["${type}"]},"v":1}}`
}

function withValues(values: string): string {
  return `{"json":{"name":"Rex"},"meta":{"values":${values},"v":1}}`
}

describe('the input of a batch', () => {
  const list = '{"json":{"limit":1}}'

  test.for([
    ['one call that is not in the path', `{"0":${list},"1":${list},"2":${list}}`],
    ['no batch', list],
    ['positions in another spelling', `{"00":${list}}`],
    ['another name', `{"0":${list},"input":${list}}`],
    ['the name of a prototype', `{"0":${list},"__proto__":${list}}`],
    ['a list', `[${list},${list}]`],
    ['text', '"x"'],
    ['null', 'null'],
  ] as const)('with %s is refused: 400', async ([, input]) => {
    const { rest } = shared()
    const message = 'The input of this batch must be an object whose only names are 0, 1.'
    for (const response of [
      await rest.get(`/trpc/pets.list,pets.list?batch=1&input=${encodeURIComponent(input)}`),
      await rest.post('/trpc/pets.create,pets.create?batch=1', input),
    ]) {
      expect(response).toMatchObject({ status: 400, body: { error: { json: { message, data: { status: 400 } } } } })
    }
  })

  test('may lack the inputs of calls without one', async () => {
    const { status } = await shared().rest.get(
      `/trpc/pets.counts,pets.list?batch=1&input=${encodeURIComponent(`{"1":${list}}`)}`,
    )
    expect(status).toBe(200)
  })

  test('that is not valid for one call leaves the other calls alone', async () => {
    const input = encodeURIComponent('{"0":{"limit":1},"1":{"json":{"limit":1}}}')
    const { status, body } = await shared().rest.get(`/trpc/pets.list,pets.list?batch=1&input=${input}`)
    expect(status).toBe(207)
    expect(body).toMatchObject([{ error: { json: { data: { status: 400 } } } }, { result: { data: { json: [] } } }])
  })
})

test('an input as superjson writes it is accepted, with and without its version', async () => {
  const { rest, store } = shared()
  await addPets(store, 1)
  for (const version of ['', ',"v":0', ',"v":1']) {
    const input = `{"json":{"limit":1,"cursor":"0"},"meta":{"values":{"cursor":["bigint"]}${version}}}`
    expect(await rest.get(`/trpc/pets.list?input=${encodeURIComponent(input)}`)).toMatchObject({ status: 200 })
  }
})
