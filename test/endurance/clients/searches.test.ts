import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { maxStopTime } from '../../../engine/service/serve/serve.ts'
import { logLinesIn } from '../../../engine/test/support/log-lines.ts'
import { report } from '../../../engine/test/support/long-form.ts'
import { stopService } from '../../../engine/test/support/process.ts'
import { connectRestClient, type RestClient } from '../../../engine/test/support/rest-client.ts'
import { change } from '../../../engine/test/support/sample-database.ts'
import { addingRows, runToEnd, startWithKey } from '../../support/petstore.ts'

const connections = 60

test('a client with batches of searches on sixty connections delays the others little, fills no queue without a bound, and does not delay a stop', async () => {
  const { server, folder, key } = await startWithKey()
  const creating = await runToEnd({ folder, arguments: ['keys', 'create', 'other', '--json'] })
  const other: string = JSON.parse(creating.stdout).key
  change(join(folder, 'data/petstore.db'), addingRows(20_000, 'Rex'))

  const statuses: (number | undefined)[] = []
  let [texts, isOver] = [0, false]
  onTestFinished(() => {
    isOver = true
  })
  const names = () => Array.from({ length: 20 }, (_, index) => [index, { json: { name: `no pet ${texts++}` } }])
  async function keepSearching(caller: RestClient): Promise<void> {
    for (; !isOver; await wait(20)) {
      const input = encodeURIComponent(JSON.stringify(Object.fromEntries(names())))
      const url = `/trpc/${Array(20).fill('pets.search').join(',')}?batch=1&input=${input}`
      statuses.push((await caller.get(url).catch(() => undefined))?.status)
    }
  }
  for (let i = 0; i < connections; i++) void keepSearching(connectRestClient(server.url, key))
  await wait(1_500)
  const seen: number[] = []
  const caller = connectRestClient(server.url, other)
  let slowest = 0
  for (let i = 0; i < 50; i++) {
    seen.push((await caller.get('/v1/pets?limit=1')).status)
    const start = performance.now()
    // Each search is a URL of its own, so that no response is cached.
    const input = encodeURIComponent(JSON.stringify({ json: { name: `nobody ${i}` } }))
    seen.push((await caller.get(`/trpc/pets.search?input=${input}`)).status)
    slowest = Math.max(slowest, performance.now() - start)
  }
  // A service on a busy machine refuses some requests, because they have waited too long.
  expect(seen.filter((status) => status === 200).length).toBeGreaterThanOrEqual(95)
  expect(new Set(seen).difference(new Set([200, 503]))).toEqual(new Set())
  const asked = performance.now()
  isOver = true
  await stopService(server)
  const stop = performance.now() - asked
  report('Batches of searches', { slowest, stop, answered: statuses.length })
  // A stop without load takes half a second, and a late one two. Until its process ends, a busy machine takes longer.
  expect(stop).toBeLessThan(2 * maxStopTime)
  expect(server.stdout).not.toContain('stopped by force')
  expect(new Set(statuses)).toContain(207)
  expect(server.stderr).toBe('')
  expect(logLinesIn(server.stdout).filter(({ level }) => level === 'error')).toEqual([])
})
