import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { curlOf, jsonOf, restRequestOf, shellWord } from '../../../engine/console/requests/curl.ts'
import { setProduct } from '../../../engine/console/service.ts'
import { proceduresIn } from '../../../engine/console/vite.ts'
import { maxInt64, minInt64 } from '../../../engine/service/api/int64.ts'
import { textsOfAllCharacters } from '../../../engine/test/support/all-characters.ts'
import { curls, runCurl } from '../../../engine/test/support/curl.ts'
import { parseExactly } from '../../../engine/test/support/exact-json.ts'
import { petstore } from '../../../server/product.ts'
import { appRouter } from '../../../server/router.ts'
import { awkwardNames } from '../../support/pet-names.ts'
import { listen } from '../../support/petstore.ts'

setProduct(petstore)
const procedures = proceduresIn(appRouter)

const categories = [minInt64, 9007199254740993n, 0n, maxInt64]
const statuses = ['available', 'pending', 'sold'] as const

const pets = awkwardNames.map((name, index) => ({
  id: BigInt(index + 1),
  name,
  categoryId: categories[index % categories.length] ?? 0n,
  status: statuses[index % statuses.length] ?? 'sold',
}))

test.for(curls)('the command of a call creates, gets and lists pets exactly (curl is %s)', async (curl) => {
  const { url, key, store } = await listen()
  async function send(procedure: string, input: object, idempotencyKey?: string): Promise<unknown> {
    const request = restRequestOf(procedures, { procedure, input, idempotencyKey })
    const command = request ? curlOf(request, url) : expect.unreachable(`The REST API has ${procedure}.`)
    return parseExactly(await runCurl(command, { PETSTORE_API_KEY: key }, curl))
  }
  for (const { id, ...input } of pets) {
    // A request that is repeated adds no second pet.
    for (let times = 1; times <= 2; times++) {
      expect(await send('pets.create', input, `o'r"d\\e$r-${id}`)).toEqual({ id, ...input })
    }
  }
  expect(await send('pets.get', { petId: 4n })).toEqual(pets[3])
  expect(await send('pets.list', { limit: 100 })).toEqual(pets)
  expect(await send('pets.list', { status: 'pending', cursor: 2n, limit: 1 })).toEqual([pets[4]])
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toEqual(pets)
})

test.for(['pets.search', 'pets.counts', 'session.current'])('the REST API has no %s', (procedure) => {
  expect(restRequestOf(procedures, { procedure, input: undefined, idempotencyKey: undefined })).toBeUndefined()
})

describe('a text of any characters', () => {
  const names = [...textsOfAllCharacters(), ...awkwardNames]

  test('is a word of a shell', () => {
    const words = names.filter((name) => !name.includes('\0'))
    const { stdout } = spawnSync('sh', {
      input: `printf '%s\\0' ${words.map(shellWord).join(' ')}`,
      maxBuffer: 2 ** 24,
    })
    expect(String(stdout).split('\0').slice(0, -1)).toEqual(words)
  })

  test('is a value of JSON, in which all characters are visible', () => {
    for (const text of [jsonOf(names), jsonOf(names, '  ')]) {
      expect(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''))).toBe(false)
    }
    expect(JSON.parse(jsonOf(names))).toEqual(names)
  })
})

test('JSON keeps the structure of a value and every digit', () => {
  const integer = fc.bigInt({ min: minInt64, max: maxInt64 })
  const text = fc.string({ unit: 'binary' })
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(integer, text, fc.boolean(), fc.constant(null), tie('list'), tie('fields')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    fields: fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  }))
  fc.assert(
    fc.property(value, (each) => {
      expect(parseExactly(jsonOf(each))).toEqual(each)
      expect(parseExactly(jsonOf(each, '  '))).toEqual(each)
    }),
  )
})
