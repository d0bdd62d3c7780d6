import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTraced } from '../../../test/notes/fixtures.ts'
import { runCommand, waitForOutput } from '../../../test/support/process.ts'
import { connectRestClient } from '../../../test/support/rest-client.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { attachStrace, canTrace } from '../../../test/support/traced.ts'

const ann = { body: 'Ann', priority: 7 }

// Only strace shows whether SQLite follows its settings.
if (canTrace()) {
  test('an fsync ends between a create and its response', async () => {
    const { rest, stop } = await startTraced(() => ['-e', 'trace=fsync,fdatasync,read,write,writev'])
    for (let i = 0; i < 21; i++) expect((await rest.post('/v1/notes', ann)).status).toBe(201)
    // Without the first request, which also stores the use of the key with its own fsync.
    expect(acknowledgementsIn(linesOf(await stop())).slice(1)).toEqual(Array(20).fill('after an fsync'))
  })

  test('creates that arrive while the disk is busy share an fsync', async () => {
    const slowDisk = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=200000']
    const { server, key, stop } = await startTraced(() => slowDisk)
    const callers = Array.from({ length: 64 }, () => connectRestClient(server.url, key))
    const responses = await Promise.all(callers.map(({ post }) => post('/v1/notes', ann)))
    expect(responses.map(({ status }) => status)).toEqual(Array(64).fill(201))
    const syncs = linesOf(await stop()).filter((line) => line.includes('sync('))
    expect(syncs.length).toBeGreaterThan(0)
    expect(syncs.length).toBeLessThan(32)
  })

  test('a create fails at once while the writer thread cannot be started, and the next create succeeds', async () => {
    const path = join(temporaryFolder(), 'notes.db')
    const engine = join(import.meta.dirname, '../../..')
    // Not the service, whose first check of its readiness has started the thread.
    const script = `
      import { definition } from '${engine}/test/notes/store.ts'
      import { openStore } from '${engine}/store/open.ts'
      const store = await openStore(definition, { kind: 'sqlite', path: '${path}' }, { busyTimeout: 250 })
      const note = { body: 'Ann', priority: 7n, state: 'done' }
      const create = () => store.notes.create(note).then(() => console.log('stored'), ({ name }) => console.log(name))
      process.on('SIGUSR2', create)
      setInterval(() => {}, 1_000)
      console.log('open')`
    const run = runCommand([process.execPath, '--input-type=module', '--eval', script])
    await waitForOutput(run, /(open)/)
    const noThreads = ['-e', 'trace=clone,clone3', '-e', 'inject=clone,clone3:error=EAGAIN']
    const detach = await attachStrace(run.child.pid, noThreads)
    const start = performance.now()
    run.child.kill('SIGUSR2')
    expect(await waitForOutput(run, /open\n(\w+)/)).toBe('StoreUnavailable')
    expect(performance.now() - start).toBeLessThan(9_000)
    await detach()
    run.child.kill('SIGUSR2')
    expect(await waitForOutput(run, /StoreUnavailable\n(\w+)/)).toBe('stored')
  })
}

function linesOf(trace: string): string[] {
  return readFileSync(trace, 'utf8').split('\n')
}

/** For each response to a create, whether an fsync began after its request and ended before it. */
function acknowledgementsIn(calls: string[]): string[] {
  const acknowledgements: string[] = []
  let [isSyncing, isSynced] = [false, false]
  for (const call of calls) {
    if (/read.*"POST \/v1\/notes/.test(call)) [isSyncing, isSynced] = [false, false]
    if (/sync\(.*unfinished/.test(call)) isSyncing = true
    if (/sync\(.*= 0$/.test(call) || (isSyncing && /sync resumed.*= 0$/.test(call))) isSynced = true
    if (call.includes('"HTTP/1.1 201')) acknowledgements.push(isSynced ? 'after an fsync' : 'too early')
  }
  return acknowledgements
}
