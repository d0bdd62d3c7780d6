import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxInt64, minInt64 } from '../../../server/api/int64.ts'
import { indentedJsonOf, jsonOf, literalOf, shellWord } from '../../../web/requests/quoting.ts'
import { curlText, keyVariable, typedClientText } from '../../../web/requests/texts.ts'
import { creates, pets, reads, runPrograms, writePrograms } from '../../support/api-calls.ts'
import { expectToCompile } from '../../support/compile.ts'
import { curls, runCurl } from '../../support/curl.ts'
import { parseExactly } from '../../support/exact-json.ts'
import { awkwardNames, namesOfAllCharacters } from '../../support/pet-names.ts'
import { listen } from '../../support/raw-http.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const root = join(import.meta.dirname, '../../..')

test.for(curls)('the curl text creates, gets and lists pets exactly (curl is %s)', async (curl) => {
  const { url, key: apiKey, store } = await listen()
  for (const [index, { call, response }] of [...creates, ...reads].entries()) {
    const hasKey = index % 2 === 0
    const command = curlText(call, hasKey ? { url, apiKey } : { url })
    expect(command.includes(apiKey)).toBe(hasKey)
    expect(parseExactly(await runCurl(command, hasKey ? {} : { [keyVariable]: apiKey }, curl))).toEqual(response)
    expect(parseExactly(indentedJsonOf(response))).toEqual(response)
  }
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toEqual(pets)
})

test('the text for the typed client compiles, and creates, gets and lists pets exactly', async () => {
  const api = await listen()
  const project = temporaryFolder()
  installClient(project)
  writePrograms(project, api, typedClientText)
  await expectToCompile(project)
  await runPrograms(project, api)
})

/** Makes `petstore-client` refer to the sources, which need no build. */
function installClient(project: string): void {
  const folder = join(project, 'node_modules/petstore-client')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "exports": "./client.js" }')
  const client = pathToFileURL(join(root, 'client/index.ts')).href
  writeFileSync(join(folder, 'client.js'), `export * from '${client}'`)
}

describe('a text of any characters', () => {
  const names = [...namesOfAllCharacters(), ...awkwardNames]

  test('is a word of a shell', () => {
    const words = names.filter((name) => !name.includes('\0'))
    const { stdout } = spawnSync('sh', {
      input: `printf '%s\\0' ${words.map(shellWord).join(' ')}`,
      maxBuffer: 2 ** 24,
    })
    expect(String(stdout).split('\0').slice(0, -1)).toEqual(words)
  })

  test('is a literal of TypeScript and a value of JSON, in which all characters are visible', () => {
    for (const text of [names.map((name) => literalOf(name)).join(), jsonOf(names), indentedJsonOf(names)]) {
      expect(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''))).toBe(false)
    }
    expect([...runInNewContext(`[${names.map((name) => literalOf(name))}]`)]).toEqual(names)
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
      expect(parseExactly(indentedJsonOf(each))).toEqual(each)
    }),
  )
})
