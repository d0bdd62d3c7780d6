import { expect, test } from 'vitest'
import { petstore } from '../../web/pets/product.ts'
import { product } from '../support/product.ts'

test('the console and the service have the same product', () => {
  expect(product).toMatchObject(petstore)
})
