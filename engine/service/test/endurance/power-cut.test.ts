import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { changedRows, compareChanges, startChanges, startTraced } from '../../../test/notes/fixtures.ts'
import type { Row, State } from '../../../test/support/changes.ts'
import { isLongForm, report } from '../../../test/support/long-form.ts'
import { connectRestClient } from '../../../test/support/rest-client.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { canTrace } from '../../../test/support/traced.ts'
import { type Disk, RecordedDisk } from './recorded-disk.ts'
import { readRecording, recordingOptions, type Step } from './recording.ts'

const cuts = isLongForm ? 20_000 : 500
/** Enough to see that notes are lost. */
const normalCuts = isLongForm ? 1_000 : 100
const seed = 20_261_121
const notes = 3_000
const callers = 4
/** Milliseconds. SQLite checks a whole database for each cut. */
const timeout = isLongForm ? 3_600_000 : 600_000

// The simulation needs a recording of system calls. Where strace is missing, only kill.test.ts covers durability.
if (canTrace()) {
  describe(`${cuts} simulated power cuts (seed ${seed}) in a recording of creates, changes and removals of ${notes} notes`, () => {
    test(
      'lose, undo or halve nothing that was acknowledged, and corrupt no database',
      async () => {
        const result = replay(await record(), cuts)
        report('Power cuts', result)
        expect(result).toMatchObject({ lost: 0, undone: 0, half: 0, corrupt: 0 })
        expect(result.checked).toBeGreaterThan(cuts * 100)
      },
      timeout,
    )

    test(
      'lose and undo what was acknowledged if the connections use synchronous=NORMAL',
      async () => {
        const preload = pathToFileURL(join(import.meta.dirname, 'synchronous-normal.ts')).href
        const result = replay(await record({ NODE_OPTIONS: `--import=${preload}` }), normalCuts)
        report('Power cuts with synchronous=NORMAL', result)
        expect(result.lost).toBeGreaterThan(0)
        expect(result.undone).toBeGreaterThan(0)
        expect(result.corrupt).toBe(0)
      },
      timeout,
    )
  })
}

interface Recording {
  base: Disk
  steps: Step[]
}

/** Records the service while several callers write, and checks that it has checkpointed its log at least three times. */
async function record(env: Record<string, string> = {}): Promise<Recording> {
  let base: Disk = new Map()
  const { server, key, databasePath, stop } = await startTraced((path) => {
    base = new Map([['', readFileSync(path)]])
    return recordingOptions
  }, env)
  const connect = () => connectRestClient(server.url, key)
  const load = startChanges({ writers: callers, hasKeys: false, padding: 150, rows: notes, connect })
  await load.ended
  const steps = await readRecording(await stop(), databasePath)
  expect(steps.filter(({ kind }) => kind === 'acknowledge')).toHaveLength(load.calls)
  const checkpoints = steps.filter((step) => step.kind === 'sync' && step.file === '').length
  expect(checkpoints).toBeGreaterThanOrEqual(3)
  return { base, steps }
}

/** Ends the recording at many moments, and opens the files that would then be on the disk with SQLite. */
function replay({ base, steps }: Recording, count: number) {
  const result = { cuts: count, checked: 0, lost: 0, undone: 0, half: 0, corrupt: 0 }
  const moments = fc
    .sample(fc.integer({ min: 1, max: steps.length }), { seed, numRuns: count })
    .toSorted((a, b) => a - b)
  const random = fc.sample(fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), {
    seed,
    numRuns: 1,
  })[0]
  // In memory, if there is such a folder, because the simulation writes thousands of databases.
  const folder = temporaryFolder(onTestFinished, existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
  const disk = new RecordedDisk(base)
  const [bodies, acknowledged] = [new Map<string, string>(), new Map<string, State>()]
  let done = 0
  for (const moment of moments) {
    for (; done < moment; done++) {
      const step = steps[done]
      if (step?.kind === 'acknowledge') {
        const body = step.body ?? bodies.get(step.id) ?? ''
        bodies.set(step.id, body)
        acknowledged.set(body, step.state)
      } else if (step) disk.apply(step)
    }
    const rows = rowsIn(
      folder,
      disk.cut(() => random?.next().value ?? 0),
    )
    result.checked += acknowledged.size
    const { lost, undone, half, doubled } = compareChanges(acknowledged, rows ?? [], false)
    if (!rows || doubled > 0) {
      result.corrupt++
      continue
    }
    result.lost += lost
    result.undone += undone
    result.half += half
  }
  return result
}

/** Returns the notes in a database, or undefined if it is corrupt. */
function rowsIn(folder: string, disk: Disk): Row[] | undefined {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(join(folder, `notes.db${suffix}`), { force: true })
  for (const [suffix, bytes] of disk) writeFileSync(join(folder, `notes.db${suffix}`), bytes)
  const database = new Database(join(folder, 'notes.db'))
  try {
    if (database.pragma('integrity_check', { simple: true }) !== 'ok') return undefined
    return database.prepare<[], Row>(changedRows).all()
  } catch {
    return undefined
  } finally {
    database.close()
  }
}
