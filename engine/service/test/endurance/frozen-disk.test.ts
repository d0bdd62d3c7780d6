import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startWithKey } from '../../../test/notes/fixtures.ts'
import { openDatabase } from '../../../test/support/database.ts'
import { canFreeze, mountFreezableDisk } from '../../../test/support/frozen-disk.ts'

// Needs the rights to mount and freeze a file system.
describe.runIf(canFreeze())('a frozen file system', () => {
  test('reads and /livez continue on a frozen file system, /readyz is 503, and writes wait for the thaw', async () => {
    const disk = mountFreezableDisk(onTestFinished)
    const { server, key } = await startWithKey({}, disk.folder)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const get = async (path: string) =>
      (await fetch(server.url + path, { headers, signal: AbortSignal.timeout(2_000) })).status
    const create = async () => {
      const body = JSON.stringify({ body: 'Ann', priority: 1 })
      return (await fetch(`${server.url}/v1/notes`, { method: 'POST', headers, body })).status
    }

    for (let round = 1; round <= 2; round++) {
      expect(await create()).toBe(201)
      // There must be no read between the commit and the freeze: it would store the read mark that the reads below need.
      disk.freeze()
      try {
        expect(await get(`/v1/notes?limit=${round}`)).toBe(200)
        const write = create()
        await wait(100)
        expect(await get(`/v1/notes?limit=${round + 10}`)).toBe(200)
        expect(await get('/v1/notes/1')).toBe(200)
        expect(await get('/livez')).toBe(200)
        await expect.poll(() => get('/readyz')).toBe(503)
        disk.thaw()
        expect(await write).toBe(201)
      } catch (error) {
        disk.thaw()
        throw error
      }
      await expect.poll(() => get('/readyz')).toBe(200)
    }
  })

  test('reads continue on a frozen file system if another process wrote last, more than a second before', async () => {
    const disk = mountFreezableDisk(onTestFinished)
    const { server, key } = await startWithKey({}, disk.folder)
    const other = openDatabase(join(disk.folder, 'data/notes.db'))
    other.exec("INSERT INTO notes (body, priority, state) VALUES ('Ann', 1, 'done')")
    await wait(1_500)
    disk.freeze()
    try {
      const request = { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(2_000) }
      expect(await (await fetch(`${server.url}/v1/notes`, request)).json()).toMatchObject([{ body: 'Ann' }])
    } finally {
      disk.thaw()
    }
  })
})
