import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createPetstoreClient } from '../../../client/index.ts'
import { isInstalled } from '../../../engine/test/support/curl.ts'
import { freePort } from '../../../engine/test/support/free-port.ts'
import { startPrefixProxy } from '../../../engine/test/support/prefix-proxy.ts'
import { consoleFolder } from '../../support/built-console.ts'
import { codeBlocksOf, document } from '../../support/documents.ts'
import { addPets, startTestApi } from '../../support/petstore.ts'

describe.for(['', '/petstore', '/a/b', '/a&b'])('behind a proxy at the path "%s"', (path) => {
  /** Starts a service, and a proxy that removes the path, unless it is empty. `url` is the address for clients. */
  async function start(options: { consoleFolder?: string } = {}) {
    const port = await freePort()
    const origin = path === '' ? `http://127.0.0.1:${port}` : await startPrefixProxy(`http://127.0.0.1:${port}`, path)
    const url = origin + path
    const api = await startTestApi({ ...options, config: { publicUrl: url } })
    await api.app.listen({ host: '127.0.0.1', port })
    const headers = { authorization: `Bearer ${api.key}` }
    /** Sends a request as a client that follows a link from one of the service's responses. */
    const send = (link: string, from = url, init: RequestInit = {}) => fetch(new URL(link, from), { headers, ...init })
    return { ...api, url, headers, send }
  }

  test('the links of all pages lead to the next one', async () => {
    const { url, send, store } = await start()
    await addPets(store, 7)
    const ids: number[] = []
    for (let link: string | undefined = `${url}/v1/pets?limit=2`; link !== undefined; ) {
      expect(link).toContain(`${url}/v1/pets?`)
      const response: Response = await send(link)
      ids.push(...((await response.json()) as { id: number }[]).map(({ id }) => id))
      link = linksIn(response).next
    }
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  test('Location leads to the pet, whose links lead to the list and to the API reference', async () => {
    const { url, headers, send } = await start({ consoleFolder })
    const created = await send(`${url}/v1/pets`, url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":7}',
    })
    expect([created.status, created.headers.get('location')]).toEqual([201, `${path}/v1/pets/1`])
    const pet = await send(String(created.headers.get('location')), created.url)
    expect(await pet.json()).toMatchObject({ id: 1, name: 'Rex' })
    const { 'successor-version': successor = '', deprecation = '' } = linksIn(pet)
    expect(await (await send(successor, pet.url)).json()).toMatchObject([{ id: 1 }])
    expect((await send(deprecation, pet.url)).headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('the short address of the API reference, and the start page without a console, redirect to it', async () => {
    const { url, send } = await start()
    for (const from of [`${url}/docs`, `${url}/`]) {
      const { headers } = await send(from, url, { redirect: 'manual' })
      expect(headers.get('location'), from).toBe(`${path}/docs/`)
      expect((await send(from)).url).toBe(`${url}/openapi.json`)
    }
  })

  // Not every machine has bash and curl.
  test.runIf(isInstalled('bash') && isInstalled('curl'))('the curl script of the guide reads all pages', async () => {
    const { url, key, store } = await start()
    await addPets(store, 4)
    const env = { PATH: process.env.PATH, KEY: key, PETSTORE_URL: url }
    const [script] = codeBlocksOf(document('docs/guides/http-tools.md'), 'bash')
    const { stdout } = await promisify(execFile)('bash', ['-c', String(script?.code)], { env })
    const [, ...pages] = stdout.trimEnd().split('\n').slice(0, -1)
    expect(pages.flatMap((page) => JSON.parse(page)).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  })

  test('the typed client reaches the RPC API', async () => {
    const { url, key } = await start()
    const client = createPetstoreClient({ url, apiKey: key })
    expect(await client.pets.create.mutate({ name: 'Rex', categoryId: 7n })).toMatchObject({ id: 1n })
    expect(await client.pets.list.query()).toHaveLength(1)
  })
})

/** The links in the header of a response, by their relation (RFC 8288). */
function linksIn({ headers }: Response): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)
  return Object.fromEntries([...links].map(([, target = '', relation = '']) => [relation, target]))
}
