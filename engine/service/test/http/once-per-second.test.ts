import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { logLinesIn } from '../../../../test/support/log-lines.ts'
import { startTestApi } from '../../../../test/support/test-api.ts'
import { StoreUnavailable } from '../../../store/errors.ts'
import { oncePerSecond } from '../../http/error-responses.ts'

test('one line a second passes for each cause, with the number of the others', () => {
  let time = 5_000
  const mayLog = oncePerSecond(() => time)
  const results = (cause: string, count: number) => Array.from({ length: count }, () => mayLog(cause))
  expect(results('full', 3)).toEqual([0, undefined, undefined])
  expect(results('io', 2)).toEqual([0, undefined])
  time += 999
  expect(results('full', 1)).toEqual([undefined])
  time += 1
  expect(results('full', 2)).toEqual([3, undefined])
  expect(results('io', 1)).toEqual([1])
})

test('causes that differ each time do not fill the memory', () => {
  const mayLog = oncePerSecond(() => 0)
  for (let i = 0; i < 1_000; i++) mayLog(`cause ${i}`)
  expect(mayLog('cause 0')).toBeUndefined()
  mayLog('another')
  expect(mayLog('cause 0')).toBe(0)
})

test('an outage is logged with one line a second for the error and one for its requests', async () => {
  const { rest, store, log } = await startTestApi()
  store.pets.create = () => Promise.reject(new StoreUnavailable('The disk is full.', { failure: 'full' }))
  const fail = () => rest.post('/v1/pets', { name: 'Rex', categoryId: 1 })
  for (let i = 0; i < 50; i++) expect((await fail()).status).toBe(503)
  await wait(1_100)
  await fail()
  const lines = logLinesIn(log.join('')).map(({ level, msg, status, others }) => [level, msg, status, others])
  expect(lines.length).toBeLessThan(20)
  const errors = lines.filter(([level]) => level === 'error')
  const requests = lines.filter(([, msg]) => msg === 'request')
  expect([errors[0], requests[0]]).toEqual([
    ['error', 'The disk is full.', undefined, undefined],
    ['info', 'request', 503, undefined],
  ])
  const left = (found: unknown[][]) => found.reduce((sum, [, , , others]) => sum + Number(others ?? 0), found.length)
  expect([left(errors), left(requests)]).toEqual([51, 51])
})
