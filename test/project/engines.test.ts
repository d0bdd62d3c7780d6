import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engines, filesOf, folders, patternsFor } from '../../sources.ts'

const root = join(import.meta.dirname, '../..')

/** Not words such as repetition and pipeThrough. */
const namedPet = /(?<!re|com|pi)pet|\bcategory_?id\b|'(?:available|sold)'/i

test.for(engines)('the engine %s does not name the product or its resource', (part) => {
  const modules = filesOf(patternsFor([part], part === 'console' ? '.{ts,tsx,css}' : '.{ts,mjs}'))
  const naming = modules.flatMap((path) =>
    [path, ...readFileSync(join(root, path), 'utf8').split('\n')].filter((line) => namedPet.test(line)),
  )
  const forced = [
    // Existing files and databases have these names and numbers, whatever the product is.
    /^ \* .*"PETS" in ASCII/,
    /^const beginning = '\.petstore-'$/,
  ]
  expect(naming.filter((line) => !forced.some((each) => each.test(line)))).toEqual([])
})

test('a pattern that matches no file fails', () => {
  expect(() => filesOf(['db/**/*.ts', 'engine/nothing/*.ts'])).toThrow('No file matches engine/nothing/*.ts')
})

test('every pattern of biome.json matches a file', () => {
  const { files, overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
  const { includes }: { includes: string[] } = files
  const ofRules = overrides.flatMap(({ includes = [] }: { includes?: string[] }) => includes)
  const patterns = [...includes, ...ofRules].map((pattern) => pattern.replace(/^!/, '').replace(/\/meta$/, '/meta/*'))
  expect(patterns.length).toBeGreaterThan(10)
  for (const pattern of new Set(patterns)) expect(filesOf([pattern]).length).toBeGreaterThan(0)
})

test('the image has every folder of the sources', () => {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  for (const folder of ['server', 'db', 'client', 'web', 'engine', ...folders.store, ...folders.service])
    expect(dockerfile).toContain(`\nCOPY ${folder} ${folder}/\n`)
})
