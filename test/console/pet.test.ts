import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { keysOf } from '../../engine/console/rows/add-rows.ts'
import { readTable } from '../../engine/console/rows/read-table.ts'
import { checkItem, isValid } from '../../engine/console/rows/table.ts'
import { NewPet } from '../../server/pets/pets.ts'
import { petResource } from '../../web/pets/pet.ts'
import { checkText } from '../support/petstore.ts'

const rex = { name: 'Rex', categoryId: 7n, status: 'sold' }

test.for([
  ...['', ' ', 'a\nb', '🐕'.repeat(255), 'x'.repeat(256), undefined].map((name) => ({ ...rex, name })),
  ...[2n ** 63n - 1n, 2n ** 63n, undefined].map((categoryId) => ({ ...rex, categoryId })),
  ...['available', 'pending', 'lost', undefined].map((status) => ({ ...rex, status })),
])('the console accepts a pet if and only if the service does: %o', (pet) => {
  const checked = checkItem(petResource, pet)
  expect('item' in checked ? checked.item : undefined).toEqual(NewPet.safeParse(pet).data)
})

test('petstore pets import and the console read the same pets', async () => {
  const text = 'Name,Category,Status\nRex,7,Sold\n,8,\nTom,9,\nMax,10,lost'
  const { found } = await checkText(text)
  expect(found.map(({ name }) => name)).toEqual(['Rex', 'Tom'])
  expect(readTable(petResource, text)?.rows.filter(isValid)).toMatchObject(found.map((item) => ({ item })))
})

test('the idempotency keys of rows are those of all earlier releases, so that an update adds no pet twice', async () => {
  const rows = readTable(petResource, 'Rex,7\nTom,8')?.rows.filter(isValid) ?? []
  const text = '[[1,"Rex","7","available"],[2,"Tom","8","available"]]'
  const digest = createHash('sha256').update(text).digest('hex')
  expect(await Promise.all(rows.map(keysOf(petResource, rows)))).toEqual([`${digest}:1`, `${digest}:2`])
})
