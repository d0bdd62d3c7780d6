import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { auditLinesIn, type LogLine, logLinesIn } from '../../engine/test/support/log-lines.ts'
import { waitForOutput } from '../../engine/test/support/process.ts'
import { sendTo } from '../../engine/test/support/rest-client.ts'
import { share } from '../../engine/test/support/share.ts'
import { type AtEnd, temporaryFolder } from '../../engine/test/support/temporary.ts'
import { petTransfer } from '../../server/pets/pets.ts'
import { document, read, rowsOf } from '../support/documents.ts'
import { bannerKey, createRequest, mintApiKey, runToEnd, startServer } from '../support/petstore.ts'

const [, section = ''] = document('docs/reference/logs.md').text.split('## Fields of a line\n')
const rows = rowsOf({ path: '', text: section.split(/^#/m)[0] ?? '' }).flatMap(([names = '', , lines = '']) =>
  [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ name, lines })),
)

/** Lines of a service and of commands, as a process writes them. */
const lines = share(async (atEnd): Promise<LogLine[]> => {
  const folder = temporaryFolder(atEnd)
  const server = await startServer({
    folder,
    env: {
      BACKUP_EVERY: '1d',
      NODE_OPTIONS: `--import=${new URL('../../engine/test/support/register-sdk.mjs', import.meta.url)}`,
    },
    atEnd,
  })
  const key = await waitForOutput(server, bannerKey)
  const get = (url: string, sent = key, headers = {}) =>
    sendTo(server.url, { url, headers: { authorization: `Bearer ${sent}`, ...headers } })
  await get('/trpc/pets.list,pets.get?batch=1')
  await get('/trpc/pets.get?batch=1', key, { 'trpc-accept': 'application/jsonl' })
  await get('/v1/pets', mintApiKey())
  // The second one is a replay.
  for (let i = 0; i < 2; i++) {
    const created = await sendTo(server.url, {
      method: 'POST',
      url: '/v1/pets',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'once' },
      payload: '{"name":"Rex","categoryId":7}',
    })
    expect(created.status).toBe(201)
  }
  await abortCreate(server.url, key)
  await waitForOutput(server, /(database\.backup)/)
  const database = new Database(join(folder, 'data/petstore.db'))
  database.exec('ALTER TABLE pets RENAME TO gone')
  for (let i = 0; i < 2; i++) await get('/v1/pets')
  database.exec('ALTER TABLE gone RENAME TO pets')
  database.close()
  const rotated = await run(atEnd, folder, 'keys', 'rotate', 'first')
  server.child.kill('SIGINT')
  await server.ended
  const backup = auditLinesIn(server.stdout).find(({ action }) => action === 'database.backup')
  const restored = await run(atEnd, folder, 'restore', backup?.subject ?? '')
  const copied = await run(atEnd, folder, 'db', 'copy', '--from', 'file:data/petstore.db', '--to', 'file:copy.db')
  return logLinesIn([server.stdout, rotated, restored, copied].join(''))
})

/** Resets the connection while the service waits for the body of a request, which it has confirmed with 100 Continue. */
async function abortCreate(url: string, key: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(createRequest(`Authorization: Bearer ${key}\r\nExpect: 100-continue\r\n`, '', 9))
  await once(socket, 'data')
  socket.resetAndDestroy()
}

/** Runs a command and returns its standard error output. */
async function run(atEnd: AtEnd, folder: string, ...words: string[]): Promise<string> {
  const command = await runToEnd({ folder, arguments: words, atEnd })
  return command.stderr
}

test('every field of a log line is documented for lines with this message', () => {
  expect(lines().length).toBeGreaterThan(10)
  const undocumented = lines().flatMap((line) =>
    Object.keys(line)
      .filter((field) => !rows.some(({ name, lines }) => name === field && isAbout(lines, line)))
      .map((field) => `${line.msg}: ${field}`),
  )
  expect(undocumented).toEqual([])
})

function isAbout(documented: string, { msg, level }: LogLine): boolean {
  const isProblem = ['warn', 'error', 'fatal'].includes(level)
  return (
    documented.includes('every line') ||
    documented.includes(`\`${msg}\``) ||
    (isProblem && documented.includes('errors and'))
  )
}

test('every documented field is in some log line', () => {
  expect(rows.length).toBeGreaterThan(30)
  const written = new Set(lines().flatMap((line) => Object.keys(line)))
  // The test of error-responses.ts fails requests for longer than a second.
  expect(rows.filter(({ name }) => !written.has(name) && name !== 'others')).toEqual([])
})

test('every action of an audit line is documented, and no other', () => {
  const actions = [...read('engine/service/telemetry/audit.ts').matchAll(/^ {2}\| ['`]([\w.${}]+)['`]$/gm)]
  const known = actions.map(([, action = '']) => action.replace(/^\$\{string\}/, petTransfer.plural))
  const documented = rowsOf(document('docs/reference/logs.md')).flatMap(
    ([name = '']) => /^`((?:key|database|pets)\.\w+)`$/.exec(name)?.[1] ?? [],
  )
  expect(documented.toSorted()).toEqual(known.toSorted())
  expect(known).toContain('key.create')
})
