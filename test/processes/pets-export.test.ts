import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { OperatorError } from '../../engine/service/operator/operator-error.ts'
import { writeFile } from '../../engine/service/transfer/export.ts'
import { auditLinesIn, notesIn } from '../../engine/test/support/log-lines.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { slowed } from '../../engine/test/support/traced.ts'
import { commandLine, makeDatabase, runProgram } from '../support/petstore.ts'

test('pets export writes the same bytes to a file and to standard output, and their number and SHA-256 to standard error', async () => {
  const folder = folderWithPets(1_500)
  const [toFile, toOutput, toDash] = [['pets.csv'], ['--format', 'csv'], ['-', '--format', 'csv']].map((words) =>
    runProgram({ folder, arguments: ['pets', 'export', ...words] }),
  )
  for (const run of [toFile, toOutput, toDash]) expect(await run?.ended, run?.stderr).toBe(0)
  expect(toFile?.stdout).toBe('')
  const text = readFileSync(join(folder, 'pets.csv'), 'utf8')
  for (const run of [toOutput, toDash]) expect(run?.stdout).toBe(text)
  expect(text.split('\r\n')).toHaveLength(1_502)
  const sha256 = createHash('sha256').update(text).digest('hex')
  for (const run of [toFile, toOutput]) {
    expect(notesIn(run?.stderr ?? '')).toBe(`Exported 1500 pets, SHA-256 ${sha256}.\n`)
    expect(auditLinesIn(run?.stderr ?? '')).toMatchObject([{ action: 'pets.export', rows: 1_500 }])
  }
  expect(readdirSync(folder).toSorted()).toEqual(['data', 'pets.csv'])
})

test('pets export reports that the reader of its output has ended', async () => {
  const folder = folderWithPets(50_000)
  const command = ['sh', '-c', '("$@"; echo "exit code $?" >&2) | head -1', 'sh', ...commandLine, 'pets', 'export']
  const run = runCommand(command, { folder })
  await run.ended
  expect(run.stdout).toBe('{"id":1,"name":"pet 1","categoryId":1,"status":"available"}\n')
  expect(run.stderr).toMatch(/^Standard output cannot be written: broken pipe\. .*\nexit code 1\n$/)
})

test.for(['SIGTERM', 'SIGKILL'] as const)('pets export leaves no incomplete file after %s', async (signal) => {
  const folder = folderWithPets(100_000)
  const slow = slowed('pread64', 3, join(folder, 'data/petstore.db'))
  const run = runCommand([...slow, ...commandLine, 'pets', 'export', 'pets.ndjson'], { folder })
  const partial = () => readdirSync(folder).filter((name) => /^pets\.ndjson\.[0-9a-f]{8}\.partial$/.test(name))
  for (; partial().length === 0; await wait(1)) expect(run.child.exitCode).toBeNull()
  run.child.kill(signal)
  expect(await run.ended).toBe(signal)
  expect(existsSync(join(folder, 'pets.ndjson'))).toBe(false)
  expect(partial()).toHaveLength(signal === 'SIGKILL' ? 1 : 0)
})

test.for(['pets.xlsx', 'pets', 'pets.ndjson.gz'])(
  'pets export refuses %s, whose name tells no format',
  async (file) => {
    const folder = folderWithPets(2)
    const run = (...words: string[]) => runProgram({ folder, arguments: ['pets', 'export', file, ...words] })
    const refused = run()
    expect([await refused.ended, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        `${file} does not end with .csv, .ndjson, or .jsonl. Choose another name, or a --format.`,
      ),
    ])
    expect(readdirSync(folder)).toEqual(['data'])
    const chosen = run('--format', 'csv')
    expect([await chosen.ended, chosen.stderr]).toEqual([0, expect.stringContaining('Exported 2 pets')])
  },
)

test('an existing file is replaced only if it is asked for, and only as a whole', async () => {
  const file = join(temporaryFolder(), 'pets.csv')
  const write = (text: string, overwrite: boolean) =>
    writeFile(file, { overwrite }, async (write) => {
      await write(Buffer.from(text))
      if (text === 'half') throw new OperatorError('The export failed.')
    })
  await write('old', false)
  await expect(write('new', false)).rejects.toThrow(
    'already exists. Choose another name, or overwrite it with --force.',
  )
  await expect(write('half', true)).rejects.toThrow('The export failed.')
  expect(readFileSync(file, 'utf8')).toBe('old')
  await write('new', true)
  expect(readFileSync(file, 'utf8')).toBe('new')
})

test('a file that another process creates during the export is kept', async () => {
  const file = join(temporaryFolder(), 'pets.csv')
  const work = writeFile(file, { overwrite: false }, async () => writeFileSync(file, 'other'))
  await expect(work).rejects.toThrow('already exists')
  expect(readFileSync(file, 'utf8')).toBe('other')
})

test('a link whose target does not exist stays, and leads to the export', async () => {
  const folder = temporaryFolder()
  const [file, link] = [join(folder, 'pets.csv'), join(folder, 'latest.csv')]
  for (const overwrite of [false, true]) {
    symlinkSync(file, link)
    await writeFile(link, { overwrite }, (write) => write(Buffer.from('new')))
    expect([readlinkSync(link), readFileSync(file, 'utf8')]).toEqual([file, 'new'])
    for (const path of [file, link]) rmSync(path)
  }
})

test.for(['', '-wal', '-shm', '-journal'])(
  'an export never overwrites a file of the database, nor through a link: %j',
  async (suffix) => {
    const folder = folderWithPets(3)
    const database = join(folder, 'data/petstore.db')
    const before = readFileSync(database)
    symlinkSync(database + suffix, join(folder, 'pets.csv'))
    for (const file of [`data/petstore.db${suffix}`, 'pets.csv']) {
      const run = runProgram({ folder, arguments: ['pets', 'export', file, '--format', 'csv', '--force'] })
      expect([await run.ended, run.stderr]).toEqual([1, `${file} is a file of the database. Choose another name.\n`])
    }
    expect(readFileSync(database).equals(before)).toBe(true)
  },
)

test('--force follows a symbolic link, and replaces neither a device nor a folder', async () => {
  const folder = temporaryFolder()
  const [file, link] = [join(folder, 'pets.csv'), join(folder, 'latest.csv')]
  writeFileSync(file, 'old')
  symlinkSync(file, link)
  await writeFile(link, { overwrite: true }, (write) => write(Buffer.from('new')))
  expect(readFileSync(file, 'utf8')).toBe('new')
  mkdirSync(join(folder, 'folder'))
  // Not a real device: without the check, a test of the superuser would replace it.
  execFileSync('mkfifo', [join(folder, 'pipe')])
  for (const path of [join(folder, 'pipe'), join(folder, 'folder')]) {
    await expect(writeFile(path, { overwrite: true }, async () => {})).rejects.toThrow('is not a file')
  }
})

function folderWithPets(count: number): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  makeDatabase(join(folder, 'data/petstore.db'), count)
  return folder
}
