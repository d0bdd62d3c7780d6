import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { definition } from '../../db/store.ts'
import { openStore } from '../../engine/store/open.ts'
import { notesIn } from '../../engine/test/support/log-lines.ts'
import { isLongForm, report } from '../../engine/test/support/long-form.ts'
import { residentMemory, runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { slowed } from '../../engine/test/support/traced.ts'
import { commandLine, locationOf, ndjsonOf, runProgram, runToEnd, startWithKey } from '../support/petstore.ts'

const count = isLongForm ? 1_000_000 : 20_000
/** In MiB. An import keeps a number for each line. */
const maxMemory = 230

test.for(['ndjson', 'csv'])(
  `the export of ${count} pets is the same after an import into an empty database, as %s`,
  { timeout: 1_200_000 },
  async (format) => {
    const [source, target] = [temporaryFolder(), temporaryFolder()]
    const file = `${source}/pets.${format}`
    writeFileSync(join(source, 'made.ndjson'), ndjsonOf(count))
    await run(source, ['pets', 'import', 'made.ndjson'])
    const exported = await run(source, ['pets', 'export', file])
    const imported = await run(target, ['pets', 'import', file])
    const repeated = await run(target, ['pets', 'export', `pets.${format}`])
    expect(notesIn(repeated.stderr)).toBe(notesIn(exported.stderr))
    expect(notesIn(exported.stderr)).toMatch(new RegExp(`^Exported ${count} pets, SHA-256 [0-9a-f]{64}\\.\n$`))
    expect(imported.stdout).toBe(`${file}: ${count} pets created, 0 already imported, 0 invalid lines skipped.\n`)
    for (const { memory } of [exported, imported, repeated]) expect(memory).toBeLessThan(maxMemory)
    const figures = { exported, imported, repeated }
    report(
      `${count} pets as ${format}`,
      Object.fromEntries(Object.entries(figures).map(([name, { seconds, memory }]) => [name, { seconds, memory }])),
    )
  },
)

test('an import is completed by running it again after SIGKILL', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'pets.ndjson'), ndjsonOf(3_000))
  const words = ['pets', 'import', 'pets.ndjson']
  const store = await openStore(definition, locationOf(folder))
  // Each of its six batches is committed with an fsync.
  const killed = runCommand([...slowed('fsync,fdatasync', 2_000), ...commandLine, ...words], { folder })
  while ((await store.pets.list({ limit: 1, cursor: 0n })).length === 0) {
    expect([killed.child.exitCode, killed.stderr]).toEqual([null, ''])
    await wait(1)
  }
  killed.child.kill('SIGKILL')
  expect(await killed.ended).toBe('SIGKILL')
  const again = await runToEnd({ folder, arguments: words })
  const [, created, existing] =
    /^pets\.ndjson: (\d+) pets created, (\d+) already imported, 0 invalid lines skipped\.\n$/.exec(again.stdout) ?? []
  expect(Number(created) + Number(existing)).toBe(3_000)
  expect(Number(existing)).toBeGreaterThan(0)
  expect(Number(created)).toBeGreaterThan(0)
  const pets = await store.pets.list({ limit: 100_000, cursor: 0n })
  await store.close()
  expect(pets).toHaveLength(3_000)
  expect(new Set(pets.map(({ name }) => name)).size).toBe(3_000)
})

test('an import runs beside a service, whose creates succeed meanwhile', async () => {
  const { folder, rest } = await startWithKey()
  writeFileSync(join(folder, 'pets.ndjson'), ndjsonOf(4_000))
  const run = runProgram({ folder, arguments: ['pets', 'import', 'pets.ndjson'] })
  const statuses: number[] = []
  while (run.child.exitCode === null && run.child.signalCode === null) {
    statuses.push((await rest.post('/v1/pets', { name: 'Rex', categoryId: 1 })).status)
  }
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout).toContain('4000 pets created')
  expect(statuses.length).toBeGreaterThan(20)
  // On a busy machine, a batch of the import may hold the lock for longer than a create waits.
  expect(new Set(statuses).difference(new Set([201, 503])).size).toBe(0)
  expect(statuses.filter((status) => status === 503).length).toBeLessThan(statuses.length / 10)
})

/** Runs a command and measures its seconds and its largest resident memory in MiB, every 10 ms. */
async function run(folder: string, words: string[]) {
  const start = performance.now()
  const run = runProgram({ folder, arguments: words })
  let memory = 0
  while (run.child.exitCode === null) {
    memory = Math.max(memory, residentMemory(run))
    await wait(10)
  }
  expect(await run.ended, run.stderr).toBe(0)
  const seconds = Math.round((performance.now() - start) / 100) / 10
  return { stdout: run.stdout, stderr: run.stderr, seconds, memory }
}
