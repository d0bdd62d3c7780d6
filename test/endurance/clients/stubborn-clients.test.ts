import { readdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { limits } from '../../../server/http/limits.ts'
import { maxStopTime } from '../../../server/serve.ts'
import { consoleFolder, largestFile } from '../../support/built-console.ts'
import { bannerKey, startServer, waitForOutput } from '../../support/process.ts'
import { listen } from '../../support/raw-http.ts'
import { stubbornClients } from '../../support/stubborn-clients.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { startTestApi } from '../../support/test-api.ts'

/** Milliseconds. Node and the service check the connections once a second. */
const tolerance = 3_000

test('each connection of a client that does not complete its request or does not read is closed within its limit', async () => {
  const { app, url, authorization } = await listen(await startTestApi({ consoleFolder }))
  const openTimes = new Map<number | undefined, number>()
  app.server.on('connection', (socket: Socket) => {
    const [start, port] = [performance.now(), socket.remotePort]
    socket.once('close', () => openTimes.set(port, performance.now() - start))
  })
  const clients = await Promise.all(
    stubbornClients(url, authorization, largestFile).map(async ({ name, isUnread, open }) => {
      const { localPort } = await open()
      return { name, localPort, limit: (isUnread ? 2 * limits.stallTime : limits.silentTime) + tolerance }
    }),
  )
  const late = () => clients.filter(({ localPort, limit }) => !((openTimes.get(localPort) ?? Number.NaN) < limit))
  const timeout = 2 * limits.stallTime + 2 * tolerance
  await expect.poll(() => late().map(({ name }) => name), { timeout, interval: 100 }).toEqual([])
})

test('SIGTERM closes each of these connections on both ports in time, and the database too', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ folder, env: { ADMIN_PORT: '0' } })
  const authorization = `Authorization: Bearer ${await waitForOutput(server, bannerKey)}\r\n`
  const admin = await waitForOutput(server, /metrics and health at (http:[^"\s]+)/)
  const clients = [
    ...stubbornClients(server.url, authorization, largestFile),
    ...stubbornClients(admin, '', '/metrics'),
  ]
  for (const { open } of clients) await open()
  await wait(500)
  const asked = performance.now()
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  // Until its process ends, a busy machine takes longer.
  expect(performance.now() - asked).toBeLessThan(2 * maxStopTime)
  expect(server.stdout).not.toContain('stopped by force')
  expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
})
