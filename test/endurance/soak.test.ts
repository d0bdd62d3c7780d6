import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { isLongForm, report } from '../../engine/test/support/long-form.ts'
import { memoryGrowth, residentMemory, type Server, smallHeap } from '../../engine/test/support/process.ts'
import { openSocket } from '../../engine/test/support/raw-http.ts'
import { connectRestClient, type RestClient } from '../../engine/test/support/rest-client.ts'
import { startWithKey } from '../support/petstore.ts'

const seconds = Number(process.env.SOAK_SECONDS ?? (isLongForm ? 600 : 10))
const callers = 8

// Memory and file descriptors are read from Linux's /proc.
if (process.platform === 'linux') {
  test(
    `${seconds} seconds of mixed load cause no error, and neither memory nor open files nor the log grow`,
    async () => {
      const { server, folder, key } = await startWithKey(smallHeap)
      const load = startLoad(server, key)
      const samples: Sample[] = []
      for (const start = performance.now(); performance.now() - start < seconds * 1_000; ) {
        await wait(250)
        samples.push(sample(server, folder, load.requests))
      }
      await load.stop()

      // The heap reaches its size in the first third.
      const steady = samples.slice(Math.floor(samples.length / 3))
      const figures = {
        seconds,
        requests: load.requests,
        failures: load.failures.length,
        memory: steady.at(-1)?.memory,
        growth: memoryGrowth(steady),
        files: [Math.min(...steady.map(({ files }) => files)), Math.max(...steady.map(({ files }) => files))],
        largestLog: Math.max(...samples.map(({ log }) => log)),
      }
      report('Soak', figures)
      expect(load.failures).toEqual([])
      expect(server.stdout).not.toContain('"level":"error"')
      // In ten minutes a leak of 100 bytes per request would exceed this.
      expect(figures.growth).toBeLessThan(20)
      // The callers open and close connections. A leak of descriptors would add up.
      expect(Number(figures.files[1])).toBeLessThan(Number(steady[0]?.files) + 3 * callers)
      expect(figures.largestLog).toBeLessThan(64)
      expect(server.child.exitCode).toBeNull()
    },
    (seconds + 60) * 1_000,
  )
}

interface Sample {
  requests: number
  /** Resident memory and the size of the write-ahead log, in MiB. */
  memory: number
  log: number
  /** Open file descriptors. */
  files: number
}

function sample(server: Server, folder: string, requests: number): Sample {
  return {
    requests,
    memory: residentMemory(server),
    log: statSync(join(folder, 'data/petstore.db-wal')).size / 2 ** 20,
    files: readdirSync(`/proc/${server.child.pid}/fd`).length,
  }
}

/** Callers that send valid and invalid requests, and check the status of each response. */
function startLoad({ url }: Server, key: string) {
  const failures: string[] = []
  const load = { requests: 0, failures, stop }
  let isStopping = false
  const client = createPetstoreClient({ url, apiKey: key, retries: 0 })

  async function session(caller: RestClient, name: string): Promise<void> {
    const pet = { name, categoryId: 7, status: 'sold' }
    const idempotent = { 'idempotency-key': name }
    const created = await caller.post('/v1/pets', pet, idempotent)
    check('a create', created.status, 201)
    check('a repeated create', (await caller.post('/v1/pets', pet, idempotent)).status, 201)
    check('another payload', (await caller.post('/v1/pets', { ...pet, name: 'other' }, idempotent)).status, 422)
    check('an invalid body', (await caller.post('/v1/pets', '{"name":')).status, 400)
    check('an invalid pet', (await caller.post('/v1/pets', { name: '', categoryId: 'x' })).status, 400)
    check('a get', (await caller.get(String(created.headers.location))).status, 200)
    check('an unknown pet', (await caller.get('/v1/pets/999999999')).status, 404)
    check('a list', (await caller.get('/v1/pets?limit=20')).status, 200)
    check('a filtered page', (await caller.get('/v1/pets?status=sold&limit=5&cursor=100')).status, 200)
    check('a wrong key', (await caller.get('/v1/pets', { authorization: 'Bearer pet_wrong' })).status, 401)
    check('readiness', (await caller.get('/readyz')).status, 200)
    const [list, rex] = await Promise.all([
      client.pets.list.query({ limit: 3 }),
      client.pets.get.query({ petId: 1n }),
      client.pets.create.mutate({ name, categoryId: 1n }),
    ])
    check('an RPC batch', list.length > 0 && rex.id === 1n ? 200 : 0, 200)
    await resetMidway(url, key)
  }
  function check(what: string, status: number, expected: number): void {
    load.requests++
    if (status !== expected) load.failures.push(`${what}: ${status}`)
  }
  async function run(index: number): Promise<void> {
    const caller = connectRestClient(url, key)
    for (let i = 0; !isStopping; i++) {
      await session(caller, `${index}-${i}`).catch((error: Error) => void load.failures.push(`${error}`))
    }
  }
  const all = Promise.all(Array.from({ length: callers }, (_, index) => run(index)))

  async function stop(): Promise<void> {
    isStopping = true
    await all
  }
  return load
}

/** Sends half a request and resets the connection. */
async function resetMidway(url: string, key: string): Promise<void> {
  const socket = await openSocket(url)
  socket.write(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: 50\r\n\r\n{"na`)
  socket.resetAndDestroy()
}
