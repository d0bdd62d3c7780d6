import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { serverFolder } from '../../../test/support/postgres/leftovers.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'

test('a test server of PostgreSQL removes the folders of runs that were killed, and no others', () => {
  const parent = temporaryFolder()
  const { pid } = spawnSync('true')
  for (const name of [`tests-postgres-${pid}-abcdef`, 'notes-abcdef']) mkdirSync(join(parent, name))
  const own = [serverFolder(parent), serverFolder(parent)]
  expect(readdirSync(parent).toSorted()).toEqual(['notes-abcdef', ...own.map((path) => basename(path)).toSorted()])
})
