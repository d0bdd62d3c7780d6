import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Caller } from '../support/caller.ts'
import { isLongForm, report, showProgress } from '../support/long-form.ts'
import { type Disk, RecordedDisk } from '../support/power-cut.ts'
import { readRecording, recordingOptions, type Step } from '../support/recording.ts'
import { canTrace, startTraced } from '../support/traced.ts'

const cuts = isLongForm ? 20_000 : 500
/** Enough to see a loss. */
const carelessCuts = isLongForm ? 1_000 : 100
const seed = 20_261_121
const pets = 2_400
const callers = 12

// Only a recording of the real calls can be cut short. Where none can be made, kill.test.ts must do.
if (canTrace()) {
  describe(`${cuts} power cuts (seed ${seed}) in a recording of ${pets} creations`, () => {
    test('lose no pet that was acknowledged, and leave no database corrupt', async () => {
      const result = replay(await record(), cuts)
      report('Power cuts', result)
      expect(result).toMatchObject({ lost: 0, corrupt: 0 })
      expect(result.checked).toBeGreaterThan(cuts * 100)
    }, 600_000)

    test('would lose some, if the connections asked for synchronous=NORMAL', async () => {
      const preload = pathToFileURL(join(import.meta.dirname, '../support/synchronous-normal.mjs')).href
      const result = replay(await record({ NODE_OPTIONS: `--import=${preload}` }), carelessCuts)
      report('Power cuts with synchronous=NORMAL', result)
      expect(result.lost).toBeGreaterThan(0)
      expect(result.corrupt).toBe(0)
    }, 600_000)
  })
}

interface Recording {
  base: Disk
  steps: Step[]
}

/** Lets the real service create pets for several callers at once, and checks that its log was moved into the file twice. */
async function record(env: Record<string, string> = {}): Promise<Recording> {
  let base: Disk = new Map()
  const { server, key, databasePath, stop } = await startTraced((path) => {
    base = new Map([['', readFileSync(path)]])
    return recordingOptions
  }, env)
  const names = Array.from({ length: pets }, (_, i) => `pet ${i}`.padEnd(150, '.'))
  const callersOf = Array.from({ length: callers }, () => new Caller(server.url, key))
  await Promise.all(
    callersOf.map(async (caller) => {
      for (let name = names.pop(); name; name = names.pop()) {
        expect((await caller.post('/v1/pets', { name, categoryId: 1 })).status).toBe(201)
      }
    }),
  )
  const steps = readRecording(await stop(), databasePath)
  expect(steps.filter(({ kind }) => kind === 'acknowledge')).toHaveLength(pets)
  const moved = steps.filter((step) => step.kind === 'sync' && step.file === '').length
  expect(moved).toBeGreaterThanOrEqual(2)
  return { base, steps }
}

/** Cuts the recording short at many moments, and looks each time at what SQLite makes of the rest. */
function replay({ base, steps }: Recording, count: number) {
  const result = { cuts: count, checked: 0, lost: 0, corrupt: 0 }
  const moments = fc
    .sample(fc.integer({ min: 1, max: steps.length }), { seed, numRuns: count })
    .toSorted((a, b) => a - b)
  const random = fc.sample(fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), {
    seed,
    numRuns: 1,
  })[0]
  const folder = memoryFolder()
  const disk = new RecordedDisk(base)
  const acknowledged = new Set<string>()
  let done = 0
  for (const [index, moment] of moments.entries()) {
    for (; done < moment; done++) {
      const step = steps[done]
      if (step?.kind === 'acknowledge') acknowledged.add(step.name)
      else if (step) disk.apply(step)
    }
    const found = namesIn(
      folder,
      disk.cut(() => random?.next().value ?? 0),
    )
    result.checked += acknowledged.size
    if (!found || new Set(found).size !== found.length) result.corrupt++
    else result.lost += acknowledged.difference(new Set(found)).size
    if (index % 100 === 0) showProgress(`${index} cuts, ${result.lost} lost, ${result.corrupt} corrupt`)
  }
  return result
}

/** The names of the pets in a database, unless it is corrupt. */
function namesIn(folder: string, disk: Disk): string[] | undefined {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(join(folder, `petstore.db${suffix}`), { force: true })
  for (const [suffix, bytes] of disk) writeFileSync(join(folder, `petstore.db${suffix}`), bytes)
  const database = new Database(join(folder, 'petstore.db'))
  try {
    if (database.pragma('integrity_check', { simple: true }) !== 'ok') return undefined
    return database.prepare('SELECT name FROM pets').pluck().all() as string[]
  } catch {
    return undefined
  } finally {
    database.close()
  }
}

/** Where files need no disk, if there is such a place: thousands of databases are written here. */
function memoryFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'petstore-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
