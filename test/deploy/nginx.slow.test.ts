import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { securityHeaders } from '../../engine/service/http/response-headers.ts'
import { freePort } from '../../engine/test/support/free-port.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { exchange, type RawResponse } from '../../engine/test/support/raw-http.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { consoleFolder } from '../support/built-console.ts'
import { read } from '../support/documents.ts'
import { addPets, startTestApi } from '../support/petstore.ts'

const configuration = read('deploy/nginx.conf')
/** For one machine, with TLS. It is included by the configuration of Debian. */
const site = read('deploy/nginx-tls.conf')
const installed = /nginx\/([\d.]+)/.exec(spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr ?? '')?.[1]
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

test.for([
  ['nginx.conf', configuration, undefined],
  ['nginx-tls.conf', site, 'https://petstore.example'],
] as const)('%s adds the security headers of the service, and no others', ([, text, publicUrl]) => {
  const added = [...text.matchAll(/add_header (\S+) (?:"([^"]*)"|(\S+)) always;/g)]
  expect(
    Object.fromEntries(added.map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain])),
  ).toEqual({
    ...securityHeaders(publicUrl),
    'retry-after': '$error_retry_after',
  })
})

test('both configurations have the same limits and the same responses', () => {
  const linesOf = (text: string) => new Set(text.split('\n').map((line) => line.trim()))
  const [several, one] = [linesOf(configuration), linesOf(site)]
  const shared = [...several].filter((line) =>
    /^(client_|large_|keepalive|proxy_|error_page|map |\d{3} |return)/.test(line),
  )
  // With one instance, there is no other one to try.
  expect(shared.filter((line) => !one.has(line) && !line.includes('next_upstream'))).toEqual([])
})

function minimumOf(text: string): string {
  const [, version] = /Needs nginx ([\d.]+) or newer/.exec(text) ?? []
  if (version === undefined) throw new Error('A configuration does not state the version of nginx that it needs.')
  return version
}

function isAtLeast(version: string, minimum: string): boolean {
  return version.localeCompare(minimum, 'en', { numeric: true }) >= 0
}

// The other tests run nginx itself, where it is installed. CI installs it.
if (installed !== undefined) {
  test('nginx accepts its configuration from the stated version on, and not before', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'nginx.conf'), configuration)
    const { stderr } = spawnSync('nginx', ['-t', '-c', join(folder, 'nginx.conf')], { encoding: 'utf8' })
    expect(stderr.includes('invalid parameter "resolve"')).toBe(!isAtLeast(installed, minimumOf(configuration)))
  })

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

  test('nginx passes compressed responses on, and compresses nothing itself', async () => {
    const { app, key, store } = await startTestApi()
    await addPets(store, 100)
    const service = await app.listen({ host: '127.0.0.1', port: 0 })
    const url = await startNginx([portOf(service)])
    for (const path of ['/v1/pets?limit=100', '/v1/pets?limit=1', '/openapi.json']) {
      for (const encoding of ['identity', 'gzip', 'br']) {
        const headers = { authorization: `Bearer ${key}`, 'accept-encoding': encoding }
        const get = async (origin: string, known = {}) => fetch(origin + path, { headers: { ...headers, ...known } })
        const [direct, passedOn] = [await get(service), await get(url)]
        for (const name of ['content-encoding', 'content-length', 'etag', 'vary'])
          expect(passedOn.headers.get(name), `${name} of ${path}`).toBe(direct.headers.get(name))
        expect(await passedOn.text()).toBe(await direct.text())
        const unchanged = await get(url, { 'if-none-match': passedOn.headers.get('etag') })
        expect([unchanged.status, unchanged.headers.get('vary')]).toEqual([304, 'accept-encoding'])
      }
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

// OpenSSL makes the certificate.
if (
  installed !== undefined &&
  isAtLeast(installed, minimumOf(site)) &&
  spawnSync('openssl', ['version']).status === 0
) {
  test('one machine with TLS: nginx passes requests on, and responds itself with Error bodies', async () => {
    const trustProxy = ['127.0.0.1']
    const api = await startTestApi({ config: { publicUrl: 'https://petstore.example', trustProxy } })
    const service = portOf(await api.app.listen({ host: '127.0.0.1', port: 0 }))
    const { plain, get } = await startNginxWithTls(service)

    expect(await get('/livez')).toMatchObject({ status: 200, body: '{"status":"ok"}' })
    const rejected = await get('/v1/pets', { 'x-forwarded-for': '192.0.2.7' })
    expect(rejected.status).toBe(401)
    expect(rejected.headers['strict-transport-security']).toBe('max-age=31536000')
    expect(api.log.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ ip: '127.0.0.1' }))
    const redirected = await fetch(`${plain}/v1/pets?limit=1`, { method: 'POST', redirect: 'manual' })
    expect(redirected.status).toBe(308)
    expect(redirected.headers.get('location')).toBe('https://petstore.example/v1/pets?limit=1')

    expect(await get('/metrics')).toMatchObject({ status: 404 })
    await api.app.close()
    const { status, headers, body } = await get('/v1/pets')
    expect([status, JSON.parse(body)]).toEqual([503, { code: 'unavailable', message: expect.any(String), status }])
    expect(headers).toMatchObject({ ...securityHeaders('https://petstore.example'), 'retry-after': '1' })
  })
}

/** Runs nginx as the deployed file configures it, with a certificate that it has signed itself. */
async function startNginxWithTls(servicePort: number) {
  const folder = temporaryFolder()
  const [plain, tls] = [await freePort(), await freePort()]
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')]
  const names = ['-subj', '/CN=petstore.example', '-addext', 'subjectAltName=DNS:petstore.example']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names, ...files], { stdio: 'ignore' })
  const changes: [RegExp | string, string][] = [
    ['server 127.0.0.1:3000;', `server 127.0.0.1:${servicePort};`],
    ['listen 80;', `listen 127.0.0.1:${plain};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${tls} ssl;`],
    [/\/etc\/ssl\/petstore/g, folder],
  ]
  const adapted = changes.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), site)
  await runNginx(
    folder,
    `error_log stderr; events {} http { ${temporaryPaths}\n${adapted} }`,
    `http://127.0.0.1:${plain}`,
  )

  const ca = readFileSync(join(folder, 'fullchain.pem'))
  async function get(path: string, headers = {}) {
    const options = { host: '127.0.0.1', port: tls, path, ca, servername: 'petstore.example', headers, agent: false }
    const [response] = await once(request(options).end(), 'response')
    return { status: Number(response.statusCode), headers: response.headers, body: await text(response) }
  }
  return { plain: `http://127.0.0.1:${plain}`, get }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function headersOf(response: RawResponse | undefined): Record<string, string> {
  return Object.fromEntries(response?.headers ?? [])
}

const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((kind) => `${kind}_temp_path ${kind};`)
  .join(' ')

/** Runs nginx as deployed, but in one process, and in front of these ports instead of the instances that Docker's DNS knows. */
async function startNginx(servicePorts: number[]): Promise<string> {
  const folder = temporaryFolder()
  const port = await freePort()
  const changes: [RegExp, string][] = [
    [/^worker_processes .*$/m, ''],
    [/^http \{$/m, `http { ${temporaryPaths}`],
    [/^ +resolver.*$/gm, ''],
    [/server petstore:3000 resolve .*;/, servicePorts.map((each) => `server 127.0.0.1:${each};`).join(' ')],
    [/listen 80;/, `listen 127.0.0.1:${port};`],
  ]
  const adapted = changes.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), configuration)
  const url = `http://127.0.0.1:${port}`
  await runNginx(folder, adapted, url)
  return url
}

/** Runs nginx in one process, and waits until it responds. */
async function runNginx(folder: string, text: string, url: string): Promise<void> {
  writeFileSync(join(folder, 'nginx.conf'), text)
  const settings = 'daemon off; master_process off; pid nginx.pid;'
  const run = runCommand(['nginx', '-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', settings], { folder })
  const responds = () =>
    fetch(url, { redirect: 'manual' }).then(
      () => true,
      () => run.stderr,
    )
  await expect.poll(responds).toBe(true)
}
