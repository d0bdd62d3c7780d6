import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { securityHeaders } from '../../server/http/response-headers.ts'
import { freePort } from '../support/free-port.ts'
import { runCommand } from '../support/process.ts'
import { exchange, type RawResponse } from '../support/raw-http.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { startTestApi } from '../support/test-api.ts'

const configuration = readFileSync(join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8')
const consoleFolder = join(import.meta.dirname, '../../web/dist')
const host = 'HTTP/1.1\r\nHost: a\r\nConnection: close\r\n'

const refused = [
  ['a malformed URL', `GET /%zz ${host}\r\n`, 400, 'invalid_request'],
  ['what is not HTTP', 'nonsense\r\n\r\n', 400, 'invalid_request'],
  ['another version of HTTP', 'GET / HTTP/3.0\r\nHost: a\r\n\r\n', 400, 'invalid_request'],
  ['a location of its own', `GET /balancer ${host}\r\n`, 404, 'not_found'],
  ['the metrics of the service', `GET /metrics ${host}\r\n`, 404, 'not_found'],
  ['TRACE', `TRACE / ${host}\r\n`, 405, 'method_not_allowed'],
  ['a body that is too large', `POST / ${host}Content-Length: 1000000\r\n\r\n`, 413, 'payload_too_large'],
  ['a URL that is too long', `GET /${'a'.repeat(40_000)} ${host}\r\n`, 414, 'uri_too_long'],
  ['headers that are too large', `GET / ${host}X: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['an instance that is away', `GET /v1/pets ${host}\r\n`, 503, 'unavailable'],
  ['a file of an instance that is away', `GET /assets/index.js ${host}\r\n`, 503, 'unavailable'],
] as const

test('the configuration of nginx adds the security headers of the service, and no others', () => {
  const added = [...configuration.matchAll(/add_header (\S+) (?:"([^"]*)"|(\S+)) always;/g)]
  expect(
    Object.fromEntries(added.map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain])),
  ).toEqual({
    ...securityHeaders(undefined),
    'retry-after': '$error_retry_after',
  })
})

// The other tests run nginx itself, where it is installed. CI installs it.
if (spawnSync('nginx', ['-v']).status === 0) {
  test.for(refused)(
    'for %s nginx itself responds with an Error body and the security headers',
    async ([, bytes, status, code]) => {
      const url = await startNginx([await freePort()])
      const [response] = await exchange(url, bytes)
      expect(response?.status).toBe(status)
      expect(JSON.parse(response?.body ?? '')).toEqual({ code, message: expect.any(String), status })
      expect(headersOf(response)).toMatchObject({
        ...securityHeaders(undefined),
        'content-type': 'application/json; charset=utf-8',
      })
      expect(response?.headers.get('retry-after')).toBe(status === 503 ? '1' : undefined)
      expect(response?.headers.has('strict-transport-security')).toBe(false)
    },
  )

  test("nginx passes the service's responses on as they are", async () => {
    const { app } = await startTestApi({ config: { publicUrl: 'https://pets.example' } })
    const service = await app.listen({ host: '127.0.0.1', port: 0 })
    const url = await startNginx([portOf(service)])
    for (const path of ['/nowhere', '/balancer/400', '/v1/pets', '/docs/', '/docs/other.js', '/livez']) {
      const bytes = `GET ${path} ${host}\r\n`
      const [[direct], [passedOn]] = [await exchange(service, bytes), await exchange(url, bytes)]
      expect([passedOn?.status, passedOn?.body], path).toEqual([direct?.status, direct?.body])
      const changing = { date: '', connection: '', server: '', 'x-request-id': '' }
      expect({ ...headersOf(passedOn), ...changing }, path).toEqual({ ...headersOf(direct), ...changing })
    }
  })

  test('nginx finds a static file on the only instance that has it', async () => {
    const apis = [await startTestApi({ consoleFolder }), await startTestApi()]
    const services = await Promise.all(apis.map(({ app }) => app.listen({ host: '127.0.0.1', port: 0 })))
    const url = await startNginx(services.map(portOf))
    const page = await (await fetch(`${services[0]}/`)).text()
    const [, path] = /"\.(\/assets\/[^"]+)"/.exec(page) ?? []
    for (let i = 0; i < 6; i++) expect((await fetch(url + path)).status).toBe(200)
  })
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function headersOf(response: RawResponse | undefined): Record<string, string> {
  return Object.fromEntries(response?.headers ?? [])
}

/** Runs nginx as deployed, but in one process, and in front of these ports instead of the instances that Docker's DNS knows. */
async function startNginx(servicePorts: number[]): Promise<string> {
  const folder = temporaryFolder()
  const port = await freePort()
  const temporaryFiles = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${kind};`,
  )
  const changes: [RegExp, string][] = [
    [/^worker_processes .*$/m, ''],
    [/^http \{$/m, `http { ${temporaryFiles.join(' ')}`],
    [/^ +resolver.*$/gm, ''],
    [/server petstore:3000 resolve .*;/, servicePorts.map((each) => `server 127.0.0.1:${each};`).join(' ')],
    [/listen 80;/, `listen 127.0.0.1:${port};`],
  ]
  const adapted = changes.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), configuration)
  writeFileSync(join(folder, 'nginx.conf'), adapted)
  const settings = 'daemon off; master_process off; pid nginx.pid;'
  const run = runCommand(['nginx', '-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', settings], { folder })
  const url = `http://127.0.0.1:${port}`
  await expect
    .poll(() =>
      fetch(url).then(
        () => true,
        () => run.stderr,
      ),
    )
    .toBe(true)
  return url
}
