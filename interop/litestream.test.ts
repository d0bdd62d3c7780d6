import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runCommand, waitForOutput } from '../engine/test/support/process.ts'
import { temporaryFolder } from '../engine/test/support/temporary.ts'
import { codeBlocksOf, document } from '../test/support/documents.ts'
import { bannerKey, rowsIn, runProgram, startServer } from '../test/support/petstore.ts'

/** Litestream 0.3.13. There is a package only for Linux on x64. */
const litestream = join(import.meta.dirname, 'node_modules/@flydotio/litestream-linux-x64/litestream')
/** Milliseconds before the crash until which every pet must be in the replica: one second on a fast machine. */
const maxLag = 15_000

if (existsSync(litestream)) {
  test('the replica of a machine that fails under load has every pet until shortly before, and no gap', async () => {
    const [folder, elsewhere, replica] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
    const server = await startServer({ folder })
    const key = await waitForOutput(server, bannerKey)
    const replicating = runCommand(commandOf('replicate', join(folder, 'data/petstore.db'), replica), { folder })
    const acknowledged: { id: number; time: number }[] = []
    const statuses = new Set<number>()
    const end = performance.now() + 25_000
    const create = async () => {
      const response = await fetch(`${server.url}/v1/pets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'x'.repeat(200), categoryId: 1 }),
      })
      statuses.add(response.status)
      const { id }: { id: number } = JSON.parse(await response.text())
      acknowledged.push({ id, time: performance.now() })
    }
    const write = async () => {
      while (performance.now() < end) await create()
    }
    await Promise.all([write(), write(), write(), write()])
    for (const { child } of [server, replicating]) child.kill('SIGKILL')
    const crash = performance.now()
    await Promise.all([server.ended, replicating.ended])
    expect([...statuses]).toEqual([201])
    expect(server.stdout).not.toMatch(/"level":"(?:warn|error)"/)

    const copy = join(elsewhere, 'copy.db')
    const [command = '', ...words] = commandOf('restore', copy, replica)
    execFileSync(command, words, { stdio: 'ignore' })
    const restore = runProgram({ folder: elsewhere, arguments: ['restore', '--force', copy] })
    expect(await restore.ended, restore.stderr).toBe(0)
    const ids = rowsIn(join(elsewhere, 'data/petstore.db')).map(({ id }) => id)
    expect(ids).toEqual(ids.map((_, index) => index + 1))
    const lost = acknowledged.filter(({ id }) => id > ids.length)
    expect(acknowledged.length).toBeGreaterThan(100)
    expect(lost.filter(({ time }) => time < crash - maxLag)).toEqual([])
    await waitForOutput(await startServer({ folder: elsewhere }), /(listening at)/)
  })

  test('after a restart of the service, the replica continues, and becomes complete when the load ends', async () => {
    const [folder, elsewhere, replica] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
    const first = await startServer({ folder })
    const key = await waitForOutput(first, bannerKey)
    runCommand(commandOf('replicate', join(folder, 'data/petstore.db'), replica), { folder })
    await create(first.url, key, 20)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    const second = await startServer({ folder })
    await create(second.url, key, 20)
    const restored = async () => {
      const copy = join(temporaryFolder(), 'copy.db')
      const run = runCommand(commandOf('restore', copy, replica), { folder: elsewhere })
      return (await run.ended) === 0 ? rowsIn(copy).length : 0
    }
    while ((await restored()) < 40) await wait(500)
    expect(await restored()).toBe(40)
  })
}

async function create(url: string, key: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { status } = await fetch(`${url}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `pet ${i}`, categoryId: 1 }),
    })
    expect(status).toBe(201)
  }
}

/** The command of the guide for other files. */
function commandOf(verb: 'replicate' | 'restore', file: string, replica: string): string[] {
  const lines = codeBlocksOf(document('docs/guides/backups.md'), 'sh').flatMap(({ code }) => code.split('\n'))
  const line = lines.find((each) => each.startsWith(`litestream ${verb} `)) ?? ''
  const words = line.split(' ').slice(1)
  expect(words).toContain(verb)
  return [litestream, ...words].map((word) => {
    if (word.endsWith('.db')) return file
    return /^[a-z0-9]+:\/\//.test(word) ? `file://${replica}` : word
  })
}
