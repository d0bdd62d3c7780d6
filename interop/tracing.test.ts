import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { codeBlocksOf, document } from '../test/support/documents.ts'
import { bannerKey, runCommand, waitForOutput, whenListening } from '../test/support/process.ts'
import { installService } from './installed-service.ts'

const guide = document('docs/guides/monitoring.md')
const [file] = codeBlocksOf(guide, 'js')
const [commands] = codeBlocksOf(guide, 'sh')
const [install = '', start = ''] = commands?.code.trimEnd().split('\n') ?? []

test('the commands of the guide send the spans, and a stop does not wait for a collector that hangs', {
  timeout: 300_000,
}, async () => {
  const { prefix } = await installService()
  writeFileSync(join(prefix, 'tracing.mjs'), String(file?.code))
  await promisify(execFile)('sh', ['-c', install], { cwd: prefix })
  const collector = await startCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PORT: '0', HOME: process.env.HOME ?? '' }

  const server = await whenListening(runCommand(['sh', '-c', start], { folder: prefix, env }))
  const processId = Number(await waitForOutput(server, /"pid":(\d+)/))
  onTestFinished(async () => {
    if (server.child.exitCode === null) process.kill(processId, 'SIGKILL')
  })
  const key = await waitForOutput(server, bannerKey)
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
  process.kill(processId, 'SIGTERM')
  expect(await server.ended, server.stderr).toBe(0)
})

/** A collector that keeps what it receives (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
async function startCollector() {
  const received: Buffer[] = []
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
    hang() {
      isHanging = true
    },
  }
}
