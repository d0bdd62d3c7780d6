import { expect, test } from 'vitest'
import { petstore } from '../../server/product.ts'
import { product } from '../support/petstore.ts'

test('the console and the service have the same product', () => {
  expect(product).toMatchObject(petstore)
})
