import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { logTo } from '../../server/log.ts'
import { logLinesIn } from '../support/log-lines.ts'

const minute = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

test('a repeated error is logged once, and then once a minute with its number', () => {
  const { log, lines } = startLog()
  for (let i = 0; i < 500; i++) log.child({ requestId: i }).error({ err: new Error('full') }, 'The disk is full.')
  expect(lines()).toMatchObject([
    { level: 'error', msg: 'The disk is full.', requestId: 0, err: { type: 'Error', stack: expect.any(String) } },
  ])
  vi.advanceTimersByTime(minute)
  const err = { message: 'full', stack: expect.stringContaining('repeated-errors.test.ts') }
  expect(lines()[1]).toMatchObject({ level: 'error', msg: 'The disk is full.', repeats: 499, err })
  expect(lines()[1]).not.toHaveProperty('requestId')
  vi.advanceTimersByTime(minute)
  expect(lines()).toHaveLength(2)
})

test('errors with one text from two places are not the same', () => {
  const { log, lines } = startLog()
  log.error({ err: new Error('full') }, 'A request failed.')
  log.error({ err: new Error('full') }, 'A request failed.')
  expect(lines()).toHaveLength(2)
})

test('an error that did not occur for a minute is logged with its stack again', () => {
  const { log, lines } = startLog()
  for (let i = 0; i < 2; i++) {
    log.warn({ err: new Error('full') }, 'The disk is full.')
    vi.advanceTimersByTime(minute)
  }
  expect(lines()).toMatchObject(Array(2).fill({ err: { message: 'full' } }))
  vi.advanceTimersByTime(10 * minute)
  expect(lines()).toHaveLength(2)
})

test('errors with another message or another cause are logged, and so are lines without an error', () => {
  const { log, lines } = startLog()
  log.error({ err: new Error('full') }, 'The disk is full.')
  log.error({ err: new Error('corrupt') }, 'The disk is full.')
  log.error({ err: new Error('full') }, 'The backup failed.')
  for (let i = 0; i < 2; i++) log.error({ reason: 'timeout' }, 'stopped by force')
  expect(lines()).toHaveLength(5)
})

test('errors that differ each time are counted together after a hundred', () => {
  const { log, lines } = startLog()
  for (let i = 0; i < 10_000; i++) log.error({ err: new Error(`pet ${i}`) }, 'A request failed.')
  expect(lines()).toHaveLength(101)
  vi.advanceTimersByTime(minute)
  expect(lines().slice(101)).toMatchObject([
    { msg: 'Too many different errors occurred to count each of them.', repeats: 9_899 },
  ])
})

test('the number is logged before the process ends', () => {
  const { log, lines } = startLog()
  for (let i = 0; i < 3; i++) log.error({ err: new Error('full') }, 'The disk is full.')
  log.reportRepeats()
  expect(lines()[1]).toMatchObject({ repeats: 2 })
  vi.advanceTimersByTime(minute)
  expect(lines()).toHaveLength(2)
})

test('the code and the stacks of the causes of an error are logged, but none of its other properties', () => {
  const { log, lines } = startLog()
  const cause = Object.assign(new Error('refused'), { input: 'postgres://u:secret@host/db' })
  const err = Object.assign(new Error('lost', { cause }), { code: '08006', detail: 'Key (name)=(secret)' })
  log.error({ err }, 'The database is away.')
  expect(lines()).toMatchObject([{ err: { type: 'Error', code: '08006', message: 'lost' } }])
  expect(JSON.stringify(lines())).toContain('caused by: Error: refused')
  expect(JSON.stringify(lines())).not.toContain('secret')
})

function startLog() {
  const written: string[] = []
  return { log: logTo({ write: (line) => void written.push(line) }, 'info'), lines: () => logLinesIn(written.join('')) }
}
