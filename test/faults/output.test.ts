import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import { logLinesIn } from '../../engine/test/support/log-lines.ts'
import { readMetric } from '../../engine/test/support/metrics.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { connectRestClient } from '../../engine/test/support/rest-client.ts'
import { canMount } from '../../engine/test/support/small-disk.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { commandLine, mintApiKey, storedTexts } from '../support/petstore.ts'

/** More than a pipe or a terminal holds (64 KiB), and less than may wait. */
const manyRequests = 500
/** More than may wait. */
const tooManyRequests = 6_000

/** Runs the service, with its output where the redirection of the shell leads. */
async function start(redirection: string, { folder = temporaryFolder(), command = ['sh', '-c'], env = {} } = {}) {
  const [port, adminPort, key] = [await freePort(), await freePort(), mintApiKey()]
  const pidFile = join(folder, 'pid')
  const script = `echo $$ > ${pidFile}; exec ${commandLine.join(' ')} ${redirection}`
  const variables = { PORT: String(port), ADMIN_PORT: String(adminPort), PETSTORE_API_KEY: key, ...env }
  const { child, ended } = runCommand([...command, script], { folder, env: variables, stdin: 'pipe' })
  const kill = (signal: NodeJS.Signals) => process.kill(Number(readFileSync(pidFile, 'utf8')), signal)
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) kill('SIGKILL')
  })
  const url = `http://127.0.0.1:${port}`
  const rest = connectRestClient(url, key)
  const isLive = () =>
    fetch(`${url}/livez`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  await expect.poll(isLive).toBe(true)
  return {
    child,
    folder,
    ended,
    kill,
    isLive,
    rest,
    metrics: async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text(),
    /** Sends requests one after another, and returns the ids of their log lines. */
    async sendRequests(count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, (_, index) => `request-${index}`)
      for (const id of ids) {
        const headers = { authorization: `Bearer ${key}`, 'x-request-id': id }
        const response = await fetch(`${url}/v1/pets`, { headers, signal: AbortSignal.timeout(10_000) })
        expect(response.status).toBe(200)
        await response.text()
      }
      return ids
    },
  }
}

type Service = Awaited<ReturnType<typeof start>>

/** Expects that the service serves requests while nothing reads its output, and then stops gracefully. */
async function expectToServeAndStop(service: Service): Promise<void> {
  const { sendRequests, isLive, rest, kill, ended, folder } = service
  await sendRequests(manyRequests)
  expect(await isLive()).toBe(true)
  expect((await rest.post('/v1/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  const begin = performance.now()
  kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(performance.now() - begin).toBeLessThan(8_000)
  // SQLite removes its log when the last connection closes.
  expect(existsSync(join(folder, 'data/petstore.db-wal'))).toBe(false)
  expect(storedTexts(folder)).toEqual(['Rex'])
}

/** A named pipe that is read only when the test asks for it. */
function makePipe() {
  const path = join(temporaryFolder(), 'pipe')
  spawnSync('mkfifo', [path])
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(fd))
  const chunks: Buffer[] = []
  function read(): boolean {
    const buffer = Buffer.alloc(65_536)
    try {
      chunks.push(buffer.subarray(0, readSync(fd, buffer)))
      return true
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
      return false
    }
  }
  /** Reads until the promise resolves and nothing is left. */
  async function readUntil(end: Promise<unknown>): Promise<string> {
    let isOver = false
    void end.finally(() => (isOver = true))
    while (read() || !isOver) await wait(1)
    return Buffer.concat(chunks).toString()
  }
  /** Reads until a text has arrived that the pattern matches, and returns its first group. */
  async function readTo(pattern: RegExp): Promise<string> {
    let found: string | undefined
    const find = () => {
      while (read());
      found = Buffer.concat(chunks).toString().match(pattern)?.[1]
      return found
    }
    await expect.poll(find).toBeDefined()
    return found ?? ''
  }
  return { path, readUntil, readTo }
}

function requestIdsIn(output: string): (string | undefined)[] {
  return logLinesIn(output)
    .filter(({ msg, route }) => msg === 'request' && route === '/v1/pets')
    .map(({ requestId }) => requestId)
}

/** A command that runs a script whose folder is on a full disk. */
const onFullDisk = ['unshare', '-rm', 'sh', '-ec', 'mount -t tmpfs -o size=64k none /mnt; exec sh -c "$0"']

test.for([
  ['its log goes to a pipe that is not read', () => start(`> ${makePipe().path}`)],
  ['both of its outputs go to one pipe that is not read', () => start(`> ${makePipe().path} 2>&1`)],
  ...(existsSync('/dev/full') ? [['its outputs go to /dev/full', () => start('> /dev/full 2>&1')] as const] : []),
  ...(canMount()
    ? [['its log goes to a file on a full disk', () => start('> /mnt/log', { command: onFullDisk })] as const]
    : []),
] as const)('the service serves requests and stops gracefully while %s', async ([, startService]) => {
  await expectToServeAndStop(await startService())
})

test('lines that a pipe does not accept are dropped and counted, and the log reports them when it is read again', async () => {
  const pipe = makePipe()
  const { metrics, sendRequests, kill, ended } = await start(`> ${pipe.path}`)
  const sent = await sendRequests(tooManyRequests)
  const dropped = Number(await pipe.readTo(/"msg":"(\d+) lines of the output were dropped/))
  expect(dropped).toBeGreaterThan(0)
  expect(readMetric(await metrics(), 'petstore_output_lines_dropped_total')).toBe(dropped)
  const later = await sendRequests(10)
  kill('SIGTERM')
  const output = await pipe.readUntil(ended)
  const ids = requestIdsIn(output)
  expect(ids).toEqual([...sent.slice(0, sent.length - dropped), ...later])
})

if (spawnSync('script', ['--version']).status === 0) {
  describe('a terminal that is paused with Ctrl-S', () => {
    /** Runs the service in a terminal of its own, with `script` of util-linux, and types Ctrl-S. */
    const startPaused = async (env = {}) => {
      const output = join(temporaryFolder(), 'output')
      const service = await start('', { command: ['script', '-q', '-e', '-f', output, '-c'], env })
      await expect.poll(() => readFileSync(output, 'utf8')).toContain('Petstore is ready.')
      service.child.stdin?.write('\x13')
      return service
    }

    test('stops neither requests nor a stop', async () => {
      await expectToServeAndStop(await startPaused())
    })

    test('stops neither the warnings of Node nor the console of a thread nor a crash', async () => {
      const faults = join(import.meta.dirname, '../support/write-to-console.mjs')
      const service = await startPaused({ NODE_OPTIONS: `--import=${faults}` })
      await service.sendRequests(1)
      service.kill('SIGUSR2')
      await service.sendRequests(manyRequests)
      service.kill('SIGUSR2')
      expect(await service.ended).toBe(1)
    })
  })
}
