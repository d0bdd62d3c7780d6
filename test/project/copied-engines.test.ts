import { spawnSync } from 'node:child_process'
import { join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { engines, filesOf, folders } from '../../sources.ts'
import { copyEngines } from '../support/copied-engines.ts'
import { read, root } from '../support/documents.ts'

test('the engines and their tests compile in another product', () => {
  const folder = copyEngines()
  const compiled = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  expect([compiled.stdout, compiled.status]).toEqual(['', 0])
})

test('the pages of the engines link to nothing outside', () => {
  const pages = engines.flatMap((part) => folders[part]).map((folder) => `${folder}/README.md`)
  const links = filesOf(pages).flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => normalize(join(page, '..', path))),
  )
  expect(links.length).toBeGreaterThan(5)
  expect(links.filter((path) => !path.startsWith('engine/'))).toEqual([])
})
