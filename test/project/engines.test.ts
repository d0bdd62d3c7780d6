import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engines, filesOf, product as productFiles } from '../../sources.ts'
import { petstore } from '../../web/pets/product.ts'
import { product } from '../support/product.ts'

const root = join(import.meta.dirname, '../..')

/** Not words such as repetition and pipeThrough. */
const namedPet = /(?<!re|com|pi)pet/i

test.for(Object.entries(engines))('the engine %s does not name the product or its resource', ([, patterns]) => {
  const ofProduct = filesOf(productFiles)
  const modules = filesOf(patterns).filter((path) => !ofProduct.includes(path))
  const naming = modules.flatMap((path) =>
    [path, ...readFileSync(join(root, path), 'utf8').split('\n')].filter((line) => namedPet.test(line)),
  )
  const forced = [
    // Existing files and databases have these names and numbers, whatever the product is.
    /^\/\*\* Identifies the files of a store \(`PRAGMA application_id`\)\. It is "PETS" in ASCII, because existing files have/,
    /^ \* The first number of each advisory lock, .* It is "PETS" in ASCII,$/,
    /^const beginning = '\.petstore-'$/,
  ]
  expect(naming.filter((line) => !forced.some((each) => each.test(line)))).toEqual([])
})

test('a pattern that matches no file fails', () => {
  expect(() => filesOf(['db/**/*.ts', 'engine/nothing/*.ts'])).toThrow('No file matches engine/nothing/*.ts')
})

test('the console and the service have the same product', () => {
  expect(product).toMatchObject(petstore)
})
