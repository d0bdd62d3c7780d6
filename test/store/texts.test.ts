import { expect, test } from 'vitest'
import { testTexts } from '../../engine/test/support/texts.ts'
import { service } from '../../server/service.ts'

const texts = await testTexts(service)

test('creates, changes and searches have texts', () => {
  expect(texts).toEqual(expect.arrayContaining(['pets.create name', 'pets.search name', 'pets.update name']))
})
