import { Agent } from 'node:http'
import { expect, test } from 'vitest'
import { stopService } from '../../engine/test/support/process.ts'
import { createInTwoParts, startWithKey, storedTexts } from '../support/petstore.ts'

test('SIGTERM waits at most ten seconds for a body that never arrives, and does not store the pet', async () => {
  const { server, key, folder } = await startWithKey()
  await createInTwoParts(server.url, key, new Agent(), 'never finished').begun
  const asked = performance.now()
  await stopService(server)
  expect(performance.now() - asked).toBeLessThan(15_000)
  expect(storedTexts(folder)).toEqual([])
})
