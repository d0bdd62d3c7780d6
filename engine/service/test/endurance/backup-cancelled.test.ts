import { copyFileSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { backUpDatabase } from '../../../store/sqlite/backup/backup.ts'
import { backUp, commandLine, makeDatabase, onSqlite } from '../../../test/notes/fixtures.ts'
import { openFilesOf, type Run, runCommand } from '../../../test/support/process.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { canTrace, slowed } from '../../../test/support/traced.ts'

const large = makeDatabase(join(temporaryFolder(afterAll), 'large.db'), 150_000)

test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s cancels a backup and leaves nothing', async (signal) => {
  const { backups, run } = await startSlowBackup()
  run.child.kill(signal)
  expect(await run.ended).toBe(signal)
  expect(readdirSync(backups)).toEqual([])
})

test('a signal during the check of the copy ends the command at once', async () => {
  const { backups, run } = await startSlowBackup({ isCheckSlow: true })
  // The thread that checks the copy opens it once more. Only strace makes its check slow.
  const opened = () => openFilesOf(run.child.pid).filter((path) => path.endsWith('.partial')).length
  const isChecking = () => (canTrace() ? opened() === 2 : sizeOf(backups) > 4_000_000)
  while (partialIn(backups).length !== 1 || !isChecking()) await waitDuring(run)
  if (!canTrace()) await wait(30)
  run.child.kill('SIGTERM')
  expect(await run.ended).toBe('SIGTERM')
  expect(readdirSync(backups)).toEqual([])
})

test('a killed backup leaves a partial file, which the next backup removes', async () => {
  const { folder, backups, run } = await startSlowBackup()
  run.child.kill('SIGKILL')
  await run.ended
  expect(partialIn(backups).length).toBeGreaterThan(0)
  // An older release left files that begin with the id of its process.
  writeFileSync(join(backups, '.notes-1-0123456789abcdef.partial'), 'a part')
  writeFileSync(join(backups, '.notes-notes.partial'), 'precious')
  const backup = await backUp(folder)
  expect(
    readdirSync(backups)
      .map((name) => join(backups, name))
      .toSorted(),
  ).toEqual([join(backups, '.notes-notes.partial'), backup, `${backup}.sha256`])
})

test('a backup does not remove the partial file of one that runs at the same time', async () => {
  const folder = temporaryFolder()
  const others: Promise<string>[] = []
  let reported = 0
  // The first step comes right after the file was created, the second while it is written, the last before it is checked.
  const backup = await backUpDatabase(large, onSqlite, join(folder, 'first.db'), () => {
    reported++
    others.push(backUpDatabase(large, onSqlite, join(folder, `other ${reported}.db`)))
  })
  const backups = await Promise.all([backup, ...others])
  expect(reported).toBeGreaterThan(2)
  const names = backups.flatMap((path) => [basename(path), `${basename(path)}.sha256`])
  expect(readdirSync(folder).toSorted()).toEqual(names.toSorted())
})

test('a backup removes an empty partial file after a minute, until which another process may still lock it', async () => {
  const folder = temporaryFolder()
  const partial = join(folder, '.notes-0123456789abcdef.partial')
  writeFileSync(partial, '')
  await backUpDatabase(large, onSqlite, join(folder, 'first.db'))
  expect(partialIn(folder).length).toBe(1)
  const minutesAgo = new Date(Date.now() - 120_000)
  utimesSync(partial, minutesAgo, minutesAgo)
  await backUpDatabase(large, onSqlite, join(folder, 'second.db'))
  expect(partialIn(folder)).toEqual([])
})

/** Starts a backup of a large database. Resolves when a part of the copy is written. */
async function startSlowBackup({ isCheckSlow = false } = {}): Promise<{ folder: string; backups: string; run: Run }> {
  const folder = temporaryFolder()
  const backups = join(folder, 'data/backups')
  mkdirSync(backups, { recursive: true })
  const database = join(folder, 'data/notes.db')
  copyFileSync(large, database)
  const run = runCommand([...slowed('pread64', 2, isCheckSlow ? undefined : database), ...commandLine, 'backup'], {
    folder,
  })
  while (sizeOf(backups) === 0) await waitDuring(run)
  return { folder, backups, run }
}

async function waitDuring({ child, stderr }: Run): Promise<void> {
  expect([child.exitCode, stderr]).toEqual([null, ''])
  await wait(1)
}

function partialIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('.notes-'))
}

/** The size of the partial file in bytes. */
function sizeOf(folder: string): number {
  const name = partialIn(folder).find((name) => name.endsWith('.partial'))
  return name === undefined ? 0 : (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
}
