import { existsSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  addingRows,
  commandLine,
  filesIn,
  keptIn,
  makeBackup,
  makeDatabase,
  restore,
  runProgram,
  textsIn,
} from '../../../test/notes/fixtures.ts'
import { isLongForm } from '../../../test/support/long-form.ts'
import { type Run, runCommand } from '../../../test/support/process.ts'
import { change, leaveLog } from '../../../test/support/sample-database.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { canTrace, strace } from '../../../test/support/traced.ts'

const kills = isLongForm ? 36 : 12

test('a restore that is killed at any moment leaves the complete old or the complete new database', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/notes.db'), 20_000, 'first')
  for (const word of ['one', 'two'])
    change(makeDatabase(join(folder, `${word}.db`), 20_000, word), 'PRAGMA journal_mode = DELETE')
  const length = await timeToEnd(folder, await startRestore(folder, join(folder, 'one.db')))
  const found: string[] = []
  for (let round = 1; round <= kills; round++) {
    const run = await startRestore(folder, join(folder, round % 2 === 0 ? 'one.db' : 'two.db'))
    // The last two restores are not killed, so each of the two databases is restored at least once.
    if (round <= kills - 2) {
      await wait((length * 1.2 * (round - Math.random())) / kills)
      run.child.kill('SIGKILL')
    }
    await run.ended
    for (const suffix of ['-wal', '-shm', '-journal']) expect(existsSync(database + suffix), suffix).toBe(false)
    const words = new Set(textsIn(database).map((name) => String(String(name).split(' ')[0])))
    expect(words.size).toBe(1)
    found.push(...words)
    for (const kept of keptIn(folder)) rmSync(kept)
  }
  expect(new Set(found)).toEqual(new Set(['one', 'two']))
  // A restore that was killed before it locked its file left it empty. Such a file is removed after a minute.
  const minutesAgo = new Date(Date.now() - 120_000)
  for (const file of filesIn(folder)) utimesSync(join(folder, 'data', file), minutesAgo, minutesAgo)
  await restore(folder, join(folder, 'one.db'))
  expect(filesIn(folder)).toEqual(['notes.db', expect.stringContaining('before-restore')])
})

if (canTrace()) {
  test('a restore that fails changes nothing', async () => {
    const { folder, database, backup } = await makeBackup()
    change(database, addingRows(1, 'later'))
    const failing = strace('-e', 'trace=rename', '-e', 'inject=rename:error=EIO:when=1+')
    const run = runCommand([...failing, ...commandLine, 'restore', backup], { folder })
    expect([await run.ended, run.stderr]).toEqual([
      1,
      expect.stringMatching(/^The database \S+ cannot be used: [^\n]+\.\n$/),
    ])
    expect(filesIn(folder)).toEqual(['backups', 'notes.db'])
    expect(textsIn(database)).toEqual(['note 1', 'note 2', 'note 3', 'later 1'])
  })

  // Some machines use other system calls. The loop ends at a restore that was not killed.
  test.for(['link', 'rename', 'unlink', 'fsync', 'ftruncate'])(
    `a restore that is killed before ${isLongForm ? 'any' : 'every second'} call of %s leaves the complete old or the complete new database`,
    { timeout: 900_000 },
    async (call) => {
      const { folder, backup } = await makeBackup()
      for (let count = 1; ; count += stepAfter(count)) {
        const database = join(folder, 'data/notes.db')
        rmSync(database, { force: true })
        makeDatabase(database, 5, 'old')
        leaveLog(database, addingRows(1, 'logged'))
        // With --seccomp-bpf, strace would not send the signal.
        const killing = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `inject=${call}:signal=KILL:when=${count}`]
        const ended = await runCommand([...killing, ...commandLine, 'restore', backup], { folder }).ended
        expect([
          ['old 1', 'old 2', 'old 3', 'old 4', 'old 5', 'logged 1'],
          ['note 1', 'note 2', 'note 3'],
        ]).toContainEqual(textsIn(database))
        if (ended === 'SIGKILL') continue
        expect(ended).toBe(0)
        expect(count).toBeGreaterThan(1)
        break
      }
      await restore(folder, backup)
      expect(filesIn(folder).filter((name) => name.startsWith('.'))).toEqual([])
    },
  )
}

/** Every second call, at random the even or the odd ones. The long form takes every call. */
function stepAfter(count: number): number {
  if (isLongForm) return 1
  return count === 1 && Math.random() < 0.5 ? 1 : 2
}

/** Resolves once the restore has begun to copy, or has ended. */
async function startRestore(folder: string, file: string): Promise<Run> {
  const known = filesIn(folder)
  const run = runProgram({ folder, arguments: ['restore', file] })
  const isCopying = () => filesIn(folder).some((name) => !known.includes(name) && name.endsWith('.partial'))
  while (!isCopying() && run.child.exitCode === null) await wait(1)
  return run
}

async function timeToEnd(folder: string, run: Run): Promise<number> {
  const begin = performance.now()
  expect(await run.ended).toBe(0)
  for (const kept of keptIn(folder)) rmSync(kept)
  return performance.now() - begin
}
