import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseEnv, promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, whenListening } from '../engine/test/support/process.ts'
import { temporaryFolder } from '../engine/test/support/temporary.ts'
import { codeBlocksOf, document } from '../test/support/documents.ts'
import { createFirstKey } from '../test/support/petstore.ts'
import { installService } from './installed-service.ts'

const guide = document('docs/guides/monitoring.md')
const tracing = codeBlocksOf(guide).slice(1, 4)
const run = promisify(execFile)

test('the guide has spans sent before and after an upgrade, and a stop does not wait for a collector that hangs', {
  timeout: 300_000,
}, async () => {
  const { prefix } = await installService()
  const [folder, next, current] = [temporaryFolder(), `${prefix}-next`, `${prefix}-current`]
  const [install = '', script = '', variables = ''] = tracing.map(({ code }) =>
    code.replaceAll('/opt/petstore-tracing', join(folder, 'tracing')),
  )
  await run('sh', ['-c', install])
  writeFileSync(join(folder, 'tracing/tracing.mjs'), script)
  cpSync(prefix, next, { recursive: true, verbatimSymlinks: true })
  const collector = await startCollector()
  const env = { ...parseEnv(variables), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const key = await createFirstKey(folder)
  for (const release of [prefix, next]) {
    rmSync(current, { force: true })
    symlinkSync(release, current)
    collector.listen()
    const server = await whenListening(runCommand([join(current, 'node_modules/.bin/petstore')], { folder, env }))
    const listPets = () => fetch(`${server.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })
    const { headers } = await listPets()
    expect(headers.get('traceresponse')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    const expected = ['petstore', 'GET /v1/pets', 'pets.list', 'list pets']
    // The SDK sends a batch every five seconds.
    await expect
      .poll(() => expected.filter((text) => !collector.received().includes(text)), { timeout: 60_000 })
      .toEqual([])

    collector.hang()
    expect((await listPets()).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.ended, server.stderr).toBe(0)
  }
})

test.for(['0.223.0', '0.301.0'])(
  'npm gives the service and SDK %s one copy of the API, and the service traces',
  { timeout: 300_000 },
  async (version) => {
    const { prefix } = await installService()
    const sdk = `@opentelemetry/sdk-node@${version}`
    await run('npm', ['install', '--prefix', prefix, '--ignore-scripts', '--prefer-offline', '--no-audit', sdk])
    expect(globSync('**/@opentelemetry/api/package.json', { cwd: prefix })).toHaveLength(1)
    const script = join(prefix, 'tracing.mjs')
    writeFileSync(script, tracing[1]?.code ?? '')
    const env = { NODE_OPTIONS: `--import=${script}`, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
    const server = await whenListening(runCommand([join(prefix, 'node_modules/.bin/petstore')], { env }))
    expect((await fetch(`${server.url}/v1/pets`)).headers.get('traceresponse')).not.toBeNull()
  },
)

/** A collector that keeps what it receives (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
async function startCollector() {
  let received: Buffer[] = []
  let isHanging = false
  const server = createServer(async (request, response) => {
    if (isHanging) return
    const body = await buffer(request)
    if (request.url === '/v1/traces') received.push(body)
    response.end()
  })
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // Safe: a listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /** The texts of protobuf are those of the spans. */
    received: () => Buffer.concat(received).toString('latin1'),
    /** Keeps nothing of what it received before. */
    listen() {
      received = []
      isHanging = false
    },
    hang() {
      isHanging = true
    },
  }
}
