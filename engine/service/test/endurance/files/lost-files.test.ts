import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { restoreDatabase } from '../../../../store/sqlite/backup/restore.ts'
import { createKey, onSqlite, openSqlite, startServer } from '../../../../test/notes/fixtures.ts'
import { databasePaths, linkTo } from '../../../../test/support/database-paths.ts'
import { logLinesIn } from '../../../../test/support/log-lines.ts'
import { isLongForm, report } from '../../../../test/support/long-form.ts'
import { hashApiKey } from '../../../auth/api-key.ts'
import { rescuedCopies, startLoad } from '../file-faults.ts'

/**
 * Every subset of the three files is deleted, moved away, replaced by an old copy or truncated under a running service. The
 * service must end with exit code 1 and one sentence, and the next start, or the copy that the service saved, must have every
 * acknowledged note and key. The table in engine/store/README.md has the expected outcomes.
 */

type File = 'database' | 'log' | 'index'
const suffixes: Record<File, string> = { database: '', log: '-wal', index: '-shm' }

interface Place {
  path: string
  /** Where the file is moved to. */
  away: string
  /** A copy from before the last creates. */
  copy: string
}

const faults: Record<string, (place: Place) => void> = {
  deleted: ({ path }) => rmSync(path),
  moved: ({ path, away }) => renameSync(path, away),
  replaced: ({ path, copy }) => renameSync(copy, path),
  truncated: ({ path }) => truncateSync(path),
}

/** What the table says about a fault of these files. */
type Outcome = 'kept' | 'rescued' | 'lost' | 'not detected'

const sentences: Record<string, RegExp> = {
  'database rescued': /^The database was deleted, .* while it was open; all that it had is saved in \S+: restore/,
  'log kept': /^The write-ahead log .* was deleted, .* while it was open; all that it had is in the database: start/,
  'log lost':
    /^The write-ahead log .* was truncated while it was open; what only the log had is lost: restore a backup/,
}

/** Cases at the same time. Most of them wait. */
const parallelCases = 6

const cases = expectedOutcomes().flatMap(({ files, outcomes }) =>
  Object.entries(outcomes)
    .filter(([, outcome]) => outcome !== 'not detected')
    .flatMap(([fault, outcome]) =>
      (['idle', 'under load'] as const).flatMap((state) =>
        // Half of the cases in the short form: each file set and fault through both kinds of paths.
        (isLongForm ? (['direct', 'link'] as const) : [state === 'idle' ? ('direct' as const) : ('link' as const)]).map(
          (path) => ({ files, fault, outcome, state, path }),
        ),
      ),
    ),
)
type Case = (typeof cases)[number]

describe.for(Object.keys(faults))('files are %s', (fault) => {
  test('as documented: what was acknowledged is stored, in the database or in a rescued copy', {
    timeout: 600_000,
  }, async () => {
    const queue = cases.filter((one) => one.fault === fault)
    const results: (Case & Awaited<ReturnType<typeof run>>)[] = []
    const take = async () => {
      for (let one = queue.shift(); one; one = queue.shift()) results.push({ ...one, ...(await run(one)) })
    }
    await Promise.all(Array.from({ length: parallelCases }, take))
    for (const { files, state, path, outcome, problem: _, ...figures } of results) {
      report(`${files.join(' and ')} ${fault}, ${state}, ${path}`, { outcome, ...figures })
    }
    expect(results.filter(({ problem }) => problem !== undefined)).toEqual([])
  })
})

/** Reads the table in engine/store/README.md. */
function expectedOutcomes(): { files: File[]; outcomes: Record<string, Outcome> }[] {
  const document = readFileSync(join(import.meta.dirname, '../../../../store/README.md'), 'utf8')
  const rows = document.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const start = rows.findIndex(([, first]) => first === 'Files')
  const names = (rows[start] ?? []).slice(2, -1)
  expect(names.toSorted()).toEqual(Object.keys(faults).toSorted())
  const table = rows.slice(start + 2, start + 9).map((cells) => ({
    files: (Object.keys(suffixes) as File[]).filter((file) => cells[1]?.includes(file)),
    // Safe: a test below fails for any other text.
    outcomes: Object.fromEntries(names.map((name, index) => [name, cells[index + 2] as Outcome])),
  }))
  expect(new Set(table.map(({ files }) => files.join())).size).toBe(7)
  return table
}

async function run({ fault, files, state, path: spelling, outcome }: Case) {
  const { path, given } = databasePaths(spelling === 'link' ? linkTo : (path) => path)
  const folder = join(dirname(path), 'away')
  mkdirSync(folder)
  const places = new Map(
    Object.entries(suffixes).map(([file, suffix]) => [
      file,
      { path: path + suffix, away: join(folder, `away${suffix}`), copy: join(folder, `copy${suffix}`) },
    ]),
  )
  const affected = files.flatMap((file) => places.get(file) ?? [])

  const keys = [await addKey(given, 'first')]
  const server = await startServer({ env: { DATABASE_URL: `file:${given}` } })
  const load = startLoad(server.url, keys[0] ?? '')
  await load.create(30)
  for (const place of places.values()) copyFileSync(place.path, place.copy)
  keys.push(await addKey(given, 'second'))
  await load.create(10)
  if (state === 'under load') await load.keepCreating(100)
  for (const place of affected) faults[fault]?.(place)
  const sentBefore = load.sent
  const exit = await server.ended
  await load.end()

  const expected = [...load.acknowledged, ...keys]
  const lacking = (found: Set<string>) => expected.filter((name) => !found.has(name))
  const found = await readStore(given, keys)
  // Moved files are complete, too, so an operator may also put them back.
  const away = places.get('database')?.away ?? ''
  const isAway = existsSync(away)
  if (isAway) for (const place of affected) renameSync(place.away, place.path)
  const lostAway = isAway ? lacking(await readStore(given, keys)) : []
  const rescued = rescuedCopies(path)
  for (const copy of rescued) {
    await restoreDatabase(path, onSqlite, copy)
    for (const name of await readStore(given, keys)) found.add(name)
  }
  const lost = lacking(found)
  const actual: Outcome = lost.length > 0 ? 'lost' : rescued.length > 0 ? 'rescued' : 'kept'
  const said = logLinesIn(server.stdout).filter(({ level }) => level === 'error')
  const [message = ''] = said
    .map(({ msg }) => msg)
    .filter((msg) => /while it was open; (?!the process saves)/.test(msg))
  const figures = {
    acknowledged: expected.length,
    stored: expected.length - lost.length,
    lost: lost.length,
    exit,
    message,
  }
  return { ...figures, problem: findProblem() }

  function findProblem(): unknown {
    const late = load.acknowledged.filter(
      (note) => lost.includes(note) && Number(note.replace('note ', '')) >= sentBefore,
    )
    const isExpected = actual === outcome && late.length === 0 && lostAway.length === 0
    // SQLite maps the index, so the process ends when it reads a part that is gone.
    const mayCrash = fault === 'truncated' && files.includes('index')
    const sentence = sentences[`${outcome === 'rescued' ? 'database' : 'log'} ${outcome}`]
    const isReported = (exit === 1 && sentence?.test(message)) || (mayCrash && exit === 'SIGBUS')
    return isExpected && isReported
      ? undefined
      : { files, fault, state, spelling, outcome, actual, exit, message, late, lost, lostAway, log: server.stdout }
  }
}

/** As a command of another process does. */
async function addKey(path: string, name: string): Promise<string> {
  const store = openSqlite({ path })
  try {
    return await createKey(store, name)
  } finally {
    await store.close()
  }
}

/** The names of all notes, and the accepted ones of these keys, after a start. Nothing if the start is refused. */
async function readStore(path: string, keys: string[]): Promise<Set<string>> {
  const found = new Set<string>()
  try {
    const store = openSqlite({ path })
    try {
      for (let cursor = 0n, isOver = false; !isOver; ) {
        const page = await store.notes.list({ cursor, limit: 100 })
        for (const { body } of page) found.add(body)
        cursor = page.at(-1)?.id ?? cursor
        isOver = page.length === 0
      }
      for (const key of keys) if (await store.apiKeys.find(hashApiKey(key))) found.add(key)
    } finally {
      await store.close()
    }
  } catch {
    // The start is refused. The copy must have everything then.
  }
  return found
}
