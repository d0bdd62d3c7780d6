import { expect, test } from 'vitest'
import { product } from '../../../test/support/product.ts'
import { petstore } from '../../../web/pets/product.ts'

test('the console and the service have the same product', () => {
  expect(product).toMatchObject(petstore)
})
