import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isLongForm, report } from '../support/long-form.ts'
import { runPetstore } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const count = isLongForm ? 1_000_000 : 20_000
/** In MiB. */
const maxMemory = 200

test.for(['ndjson', 'csv'])(
  `the export of ${count} pets is the same after an import into an empty database, as %s`,
  { timeout: 1_200_000 },
  async (format) => {
    const [source, target] = [temporaryFolder(), temporaryFolder()]
    const file = `${source}/pets.${format}`
    const seeded = await run(source, ['seed', String(count), '--seed', '17'])
    const exported = await run(source, ['pets', 'export', file])
    const imported = await run(target, ['pets', 'import', file])
    const repeated = await run(target, ['pets', 'export', `pets.${format}`])
    expect(repeated.stderr).toBe(exported.stderr)
    expect(exported.stderr).toMatch(new RegExp(`^Exported ${count} pets, SHA-256 [0-9a-f]{64}\\.\n$`))
    expect(imported.stdout).toBe(`${file}: ${count} pets created, 0 existed already, 0 invalid lines skipped.\n`)
    for (const { memory } of [exported, imported, repeated]) expect(memory).toBeLessThan(maxMemory)
    const figures = { seeded, exported, imported, repeated }
    report(
      `${count} pets as ${format}`,
      Object.fromEntries(Object.entries(figures).map(([name, { seconds, memory }]) => [name, { seconds, memory }])),
    )
  },
)

/** Runs a command and measures its seconds and its largest resident memory in MiB. */
async function run(folder: string, words: string[]) {
  const start = performance.now()
  const run = runPetstore({ folder, arguments: words })
  let memory = 0
  while (run.child.exitCode === null) {
    memory = Math.max(memory, largestMemory(run.child.pid))
    await wait(10)
  }
  expect(await run.ended, run.stderr).toBe(0)
  const seconds = Math.round((performance.now() - start) / 100) / 10
  return { stdout: run.stdout, stderr: run.stderr, seconds, memory }
}

/** Linux's high-water mark of the resident memory. 0 on other systems, and for a process that has just ended. */
function largestMemory(pid: number | undefined): number {
  try {
    const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Math.round(Number(kibibytes ?? 0) / 1024)
  } catch {
    return 0
  }
}
