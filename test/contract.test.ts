import { expect, test } from 'vitest'
import { startTestApi } from './helpers.ts'

test('rpc and rest', async () => {
  const { rpc, rest } = await startTestApi()
  const pet = await rpc.pets.create.mutate({ name: 'Rex', categoryId: 7n })
  expect(pet).toEqual({ id: 1n, name: 'Rex', categoryId: 7n, status: 'available' })
  expect(await rpc.pets.get.query({ petId: 1n })).toEqual(pet)
  expect(await rpc.pets.list.query()).toEqual([pet])
  expect((await rest.get('/v1/pets')).body).toEqual([{ id: 1, name: 'Rex', categoryId: 7, status: 'available' }])
  await expect(rpc.pets.get.query({ petId: 2n })).rejects.toMatchObject({
    data: { code: 'not_found', status: 404, message: 'No pet has the id 2.' },
  })
  // @ts-expect-error wrong
  await expect(rpc.pets.get.query({ petId: 2 })).rejects.toMatchObject({ data: { code: 'invalid_request' } })
})
