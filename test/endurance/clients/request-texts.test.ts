import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonOf, shellWord } from '../../../engine/console/requests/curl.ts'
import { maxInt64, minInt64 } from '../../../engine/service/api/int64.ts'
import { textsOfAllCharacters } from '../../../engine/test/support/all-characters.ts'
import { parseExactly } from '../../../engine/test/support/exact-json.ts'

describe('a text of any characters', () => {
  const names = [
    ...textsOfAllCharacters(),
    // What a wrongly quoted shell command or program would change.
    `it's "quoted" \\ \\" \\\\' \\n \\u0041`,
    '$HOME $(id) `id` !! !$ %s %PATH% ~ * ? [a] {a,b}',
    '  two spaces before, and one after ',
    "-- @/etc/hosts; exit 1 # </script> && || > < '",
    '🐕‍🦺 Rüdi مرحبا \u202eRex\u202c \u2028',
    '"id":7,"categoryId":"8"',
  ]

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
