import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { maxStopTime } from '../../../engine/service/serve/serve.ts'
import { stopService, waitForOutput } from '../../../engine/test/support/process.ts'
import { stubbornClients } from '../../../engine/test/support/stubborn-clients.ts'
import { largestFile } from '../../support/built-console.ts'
import { createRequest, startWithKey, storedTexts } from '../../support/petstore.ts'

test('SIGTERM closes the connections of clients that do not complete their request or do not read, on both ports in time, and the database too', async () => {
  const { server, folder, key } = await startWithKey({ ADMIN_PORT: '0' })
  const authorization = `Authorization: Bearer ${key}\r\n`
  const admin = await waitForOutput(server, /metrics and health at (http:[^"\s]+)/)
  const clients = [
    ...stubbornClients(server.url, authorization, largestFile, createRequest),
    ...stubbornClients(admin, '', '/metrics', createRequest),
  ]
  for (const { open } of clients) await open()
  await wait(500)
  const asked = performance.now()
  await stopService(server)
  // Until its process ends, a busy machine takes longer.
  expect(performance.now() - asked).toBeLessThan(2 * maxStopTime)
  expect(server.stdout).not.toContain('stopped by force')
  expect(readdirSync(join(folder, 'data'))).toEqual(['petstore.db'])
  expect(storedTexts(folder)).toEqual([])
})
