import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../engine/test/support/process.ts'
import { change, leaveLog } from '../../engine/test/support/sample-database.ts'
import { canMount, inNamespace } from '../../engine/test/support/small-disk.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { addingRows, commandLine, makeDatabase, prepareSqlite, runProgram, textsIn } from '../support/petstore.ts'

if (canMount()) {
  test.for(['petstore.db', 'pet store.db', 'pet\\store.db'])(
    'a start refuses %s if only the file is mounted',
    async (name) => {
      const [path, host] = [join(temporaryFolder(), name), join(temporaryFolder(), 'host.db')]
      for (const file of [path, host]) writeFileSync(file, '')
      for (const words of [[], ['keys', 'create', 'shop'], ['doctor']]) {
        const script = 'mount --bind "$1" "$2"; shift 2; exec "$@"'
        const run = runCommand(inNamespace(script, [host, path, ...commandLine, ...words]), {
          env: { DATABASE_URL: `file:${path}` },
        })
        const reason = 'only the file is mounted, so its write-ahead log would be lost; mount its folder'
        expect([await run.ended, run.stdout + run.stderr]).toEqual([1, expect.stringContaining(reason)])
      }
    },
  )
}

describe('a copy of a live database without its log', () => {
  async function copyLive() {
    const folder = temporaryFolder()
    const [live, copy] = [join(folder, 'live.db'), join(folder, 'copy.db')]
    prepareSqlite(live)
    leaveLog(live, addingRows(3, 'logged'))
    copyFileSync(live, copy)
    return { folder, live, copy }
  }

  test('is refused by verify, and by restore without --force', async () => {
    const { folder, copy } = await copyLive()
    const message = `The database ${copy} cannot be used: it is a copy of a database in use without its log, so it may lack the newest rows; restore a backup that the command backup made, or this copy with restore --force.`
    for (const words of [['backup', 'verify'], ['restore']]) {
      const run = runProgram({ folder, arguments: [...words, copy] })
      expect([await run.ended, run.stdout, run.stderr]).toEqual([1, '', expect.stringContaining(message)])
    }
    const forced = runProgram({ folder, arguments: ['restore', '--force', copy] })
    expect([await forced.ended, textsIn(join(folder, 'data/petstore.db'))]).toEqual([0, []])
  })

  test('is accepted together with its log', async () => {
    const { folder, live, copy } = await copyLive()
    copyFileSync(`${live}-wal`, `${copy}-wal`)
    const run = runProgram({ folder, arguments: ['restore', copy] })
    expect([await run.ended, textsIn(join(folder, 'data/petstore.db'))]).toEqual([
      0,
      ['logged 1', 'logged 2', 'logged 3'],
    ])
  })
})

test('a database without its application id, such as one made with .dump, is refused with the pragma that repairs it', async () => {
  const folder = temporaryFolder()
  const path = makeDatabase(join(folder, 'petstore.db'), 3)
  change(path, 'PRAGMA journal_mode = DELETE; PRAGMA application_id = 0')
  expect(() => prepareSqlite(path)).toThrow('PRAGMA application_id = 1346720851')
  change(path, 'PRAGMA application_id = 1346720851')
  prepareSqlite(path)
  expect(textsIn(path)).toHaveLength(3)
})
