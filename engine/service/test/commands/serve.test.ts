import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runProgram } from '../../../test/notes/fixtures.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { closeAfter } from '../../closing.ts'
import { OperatorError } from '../../operator/operator-error.ts'
import { announce } from '../../serve/announce.ts'
import { notifySystemd } from '../../serve/systemd.ts'
import { makeDependencies } from '../../service.ts'
import { logTo } from '../../telemetry/log.ts'

const start = {
  name: 'Notes',
  url: 'http://127.0.0.1:3000',
  path: '/notes',
  database: { kind: 'sqlite', path: 'notes.db' },
} as const

test.for([
  { asBanner: true, hasConsole: true, firstKey: 'note_x', links: 1 },
  { asBanner: true, hasConsole: false, firstKey: 'note_x', links: 0 },
  { asBanner: true, hasConsole: true, firstKey: undefined, links: 0 },
  { asBanner: false, hasConsole: true, firstKey: 'note_x', links: 0 },
])('shows $links links that sign in: %o', ({ asBanner, links, ...facts }) => {
  const shown: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => shown.push(String(text)) > 0)
  onTestFinished(() => write.mockRestore())
  announce({ ...start, ...facts }, logTo({ write: (line) => void shown.push(line) }, 'info'), { asBanner })
  const text = shown.join('')
  expect(text).toContain(facts.firstKey ?? start.url)
  expect(text.split('Sign in to the console: http://127.0.0.1:3000/#key=note_x\n')).toHaveLength(links + 1)
  expect(text.includes('#')).toBe(links > 0)
  expect(/console/i.test(text)).toBe(facts.hasConsole)
})

test('a start that cannot make its dependencies says why in one line, and leaves no database', async () => {
  const folder = temporaryFolder()
  const run = runProgram({ folder, env: { PRINTER_FILE: join(folder, 'missing', 'printer') } })
  expect(await run.ended).toBe(1)
  expect(run.stderr).toMatch(/^The dependencies could not be made: ENOENT: .*printer'\n$/)
  expect(readdirSync(folder)).toEqual([])
})

test('a connection that the system refuses is the reason of a failed start, also as the cause of another error', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:25'), { errno: -111 })
  const errors = [new TypeError('fetch failed', { cause: refused }), new AggregateError([refused, refused])]
  for (const error of errors) {
    const made = makeDependencies({ dependencies: () => Promise.reject(error) }, {})
    const message = 'The dependencies could not be made: connect ECONNREFUSED 127.0.0.1:25'
    await expect(made).rejects.toEqual(new OperatorError(message, { cause: error }))
  }
})

test.for([
  ['the sentence of a product', new OperatorError('MAIL_SERVER does not respond. Correct it.')],
  ['a defect, with its stack,', new TypeError('Cannot read properties of undefined')],
])('what was made is closed if another dependency fails, and %s stays as it is', async ([, error]) => {
  const closed: string[] = []
  const made = makeDependencies(
    {
      dependencies(_settings, onClose) {
        onClose(() => closed.push('first'))
        onClose(() => Promise.reject(new Error('second')))
        onClose(() => closed.push('third'))
        throw error
      },
    },
    {},
  )
  await expect(made).rejects.toBe(error)
  expect(closed).toEqual(['third', 'first'])
})

test.for([
  [['mail'], new Error('mail')],
  [['mail', 'cache'], new AggregateError([new Error('cache'), new Error('mail')], 'Error: cache\nError: mail')],
] as const)(
  'all that was made is closed, also if %j cannot be, which is thrown at the end',
  async ([broken, error]) => {
    const closed: string[] = []
    const { onClose, close } = await makeDependencies({}, {})
    onClose(() => closed.push('pool'))
    for (const name of broken) onClose(() => Promise.reject(new Error(name)))
    await expect(close()).rejects.toEqual(error)
    expect(closed).toEqual(['pool'])
  },
)

test.for([
  ['fails', ['work'], 'work'],
  ['fails, and what it used cannot be closed', ['work', 'close'], 'work'],
  ['succeeds, and what it used cannot be closed', ['close'], 'close'],
] as const)('if work %s, the first error is thrown', async ([, failing, thrown]) => {
  const steps: string[] = []
  const run = (step: 'work' | 'close') => async () => {
    steps.push(step)
    if (failing.some((each) => each === step)) throw new Error(step)
  }
  await expect(closeAfter(run('close'), run('work'))).rejects.toThrow(thrown)
  expect(steps).toEqual(['work', 'close'])
})

test('without a shell, a service of systemd goes on and warns', async () => {
  vi.stubEnv('PATH', '/nowhere')
  onTestFinished(() => void vi.unstubAllEnvs())
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  notifySystemd({ NOTIFY_SOCKET: '/nowhere' })
  await expect.poll(() => warn.mock.calls).toEqual([[expect.stringContaining('systemd is not notified')]])
})
