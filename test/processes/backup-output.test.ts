import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { auditLinesIn, notesIn } from '../../engine/test/support/log-lines.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { commandLine, makeDatabase, restore, runProgram, textsIn } from '../support/petstore.ts'

const quoted = commandLine.map((word) => `'${word}'`).join(' ')

test('backup - writes a backup to standard output, and nothing else', async () => {
  const folder = temporaryFolder()
  const database = makeDatabase(join(folder, 'data/petstore.db'), 2_000)
  const run = runCommand(['sh', '-c', `exec ${quoted} backup - > copy.db`], { folder })
  expect(await run.ended).toBe(0)
  const copy = join(folder, 'copy.db')
  const [{ size }, sha256] = [statSync(copy), createHash('sha256').update(readFileSync(copy)).digest('hex')]
  expect(notesIn(run.stderr)).toBe(`Wrote a backup of ${size} bytes, SHA-256 ${sha256}.\n`)
  expect(auditLinesIn(run.stderr)).toMatchObject([
    { action: 'database.backup', subject: 'standard output', from: database, bytes: size },
  ])
  expect(textsIn(copy)).toEqual(textsIn(database))
  expect(readdirSync(join(folder, 'data/backups'))).toEqual([])
  await restore(temporaryFolder(), copy)
})

test('a reader that ends early is reported, and leaves no temporary file', async () => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 50_000)
  const run = runCommand(['bash', '-c', `set -o pipefail; ${quoted} backup - | head -c 10 > /dev/null`], { folder })
  expect(await run.ended).toBe(1)
  expect(run.stderr).toBe(
    'Standard output cannot be written: broken pipe. Check the path, its permissions and the disk.\n',
  )
  expect(readdirSync(join(folder, 'data/backups'))).toEqual([])
})

test.for(['SIGINT', 'SIGTERM'] as const)('%s while the output is not read leaves no temporary file', async (signal) => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 50_000)
  const backups = join(folder, 'data/backups')
  const run = runCommand(['sh', '-c', `exec ${quoted} backup -`], { folder })
  run.child.stdout?.pause()
  // The pipe is full, and the copy is complete.
  while ((run.child.stdout?.readableLength ?? 0) === 0) await wait(5)
  expect(readdirSync(backups).length).toBe(1)
  run.child.kill(signal)
  run.child.stdout?.resume()
  expect(await run.ended).toBe(signal)
  expect(readdirSync(backups)).toEqual([])
})

test('--json is refused with standard output', async () => {
  const folder = temporaryFolder()
  makeDatabase(join(folder, 'data/petstore.db'), 3)
  for (const [words, content] of [
    [['backup', '-'], 'the backup'],
    [['pets', 'export'], 'the pets'],
  ] as const) {
    const run = runProgram({ folder, arguments: [...words, '--json'] })
    expect([await run.ended, run.stdout, run.stderr]).toEqual([
      2,
      '',
      `--json needs the name of a file, because standard output has ${content}.\n`,
    ])
  }
})

if (spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0) {
  test('a terminal is refused', () => {
    const folder = temporaryFolder()
    makeDatabase(join(folder, 'data/petstore.db'), 3)
    const { status, stdout } = spawnSync('script', ['-qec', `${quoted} backup -`, '/dev/null'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([2, 'A backup is not text. Redirect standard output to a file or a pipe.\r\n'])
  })
}
