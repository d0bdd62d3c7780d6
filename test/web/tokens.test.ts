import fc from 'fast-check'
import { expect, test } from 'vitest'
import { petResource } from '../../web/pets/pet.ts'
import { indentedJsonOf } from '../../web/requests/quoting.ts'
import { type ApiCall, curlText, generatedClientText, typedClientText } from '../../web/requests/texts.ts'
import { tokensOf } from '../../web/requests/tokens.ts'

test('JSON has names, strings, numbers and keywords', () => {
  expect(marked(indentedJsonOf({ id: -(2n ** 63n), name: 'a "b": 7 // c', tags: [true, 1.5e-7, null] }))).toBe(
    '{\n  <name "id">: <number -9223372036854775808>,\n  <name "name">: <string "a \\"b\\": 7 // c">,\n' +
      '  <name "tags">: [\n    <keyword true>,\n    <number 1.5e-7>,\n    <keyword null>\n  ]\n}',
  )
})

test('a command has options and strings, and TypeScript has names, keywords, comments and expressions', () => {
  const service = { url: 'http://127.0.0.1:3000' }
  const call: ApiCall = {
    title: '',
    resource: petResource,
    operation: 'create',
    input: { name: "O'Hara", categoryId: 7n },
  }
  expect(marked(curlText({ ...call, idempotencyKey: 'k' }, service))).toContain(
    'curl <string \'http://127.0.0.1:3000/v1/pets\'> \\\n  <option --header> <string "Authorization: Bearer $PETSTORE_API_KEY">',
  )
  const typed = marked(typedClientText({ ...call, operation: 'list', input: { cursor: 7n } }, service))
  expect(typed).toContain("<name url>: <string 'http://127.0.0.1:3000'>")
  expect(typed).toContain(
    '<keyword const> pets = <keyword await> petstore.pets.list.query({ <name cursor>: <number 7n> })',
  )
  const generated = marked(generatedClientText(call, service))
  expect(generated).toMatch(/^<comment \/\/ JSON\.parse .*>$/m)
  expect(generated).toMatch(/^<keyword const> ids = <string \/.*\/g>$/m)
})

test('the parts of any text are that text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'"\'\\/:- n7\n*#', 'true', '--a', 'é', '🐕') }), (text) => {
      const parts = tokensOf(text).map((token) => token.text)
      expect(parts.join('')).toBe(text)
    }),
  )
})

function marked(text: string): string {
  return tokensOf(text)
    .map((token) => (token.kind ? `<${token.kind} ${token.text}>` : token.text))
    .join('')
}
