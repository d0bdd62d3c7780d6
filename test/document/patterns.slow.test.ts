import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readIdempotencyKeys } from '../../engine/service/api/idempotency-key.ts'
import { textsOfAllCharacters } from '../../engine/test/support/all-characters.ts'
import openapi from '../../server/openapi.json' with { type: 'json' }
import { NewPet } from '../../server/pets/pets.ts'

/** Clients and tools compile the patterns of the OpenAPI document with the regular expressions of their language. */

const patterns = [...new Set(patternsIn(openapi))]
const { name } = openapi.components.schemas.NewPet.properties
const [idempotencyKey = ''] = patternsIn(openapi.paths['/pets'].post.parameters)

const escapes = /\\(?:x[0-9a-f]{2}|.)/g

const alphabet = fc.constantFrom(...'aZ09 ~!"#$%&\'()[]{}\\/^|.-_', '\t', '\n', '\r', '\0', '\x7f', '\x85', 'é', '𝒳')
const texts = fc.oneof(
  fc.string({ unit: alphabet, maxLength: 12 }),
  fc.string({ unit: alphabet, maxLength: 10 }).map((text) => `"${text}"`),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('a', '𝒳', '"', ' ').chain((unit) => fc.integer({ min: 253, max: 258 }).map((n) => unit.repeat(n))),
)

test('the document has patterns', () => {
  expect(patterns).toEqual(expect.arrayContaining([name.pattern, idempotencyKey]))
})

describe.for(patterns)('%s', (pattern) => {
  test.for(['', 'u', 'v'])('compiles in JavaScript with the flags "%s"', (flags) => {
    expect(() => new RegExp(pattern, flags)).not.toThrow()
  })

  test.for<[construct: string, where: string, expression: RegExp]>([
    ['an unescaped [ in a class', 'Java, Rust and JavaScript with v', /\[[^\]]*\[/],
    ['a set operator in a class', 'Java, Rust and JavaScript with v', /\[[^\]]*(?:&&|--|~~)/],
    ['a lookaround or a special group', 'Go and Rust', /\(\?[^:]/],
    ['a quote', 'code that a generator writes', /["'`]/],
    ['a slash', 'code that a generator writes', /\//],
    ['a control character or line separator', 'code that a generator writes', /[\p{Cc}\p{Zl}\p{Zp}]/u],
  ])('does not hold %s, which fails in %s', ([, , expression]) => {
    expect(pattern.replaceAll(escapes, '_')).not.toMatch(expression)
  })

  test('uses only escape sequences that mean the same in every engine', () => {
    // Not among them: \u (Go, Perl), \p (Python), \d and \w (their meaning differs), backreferences (Go, Rust).
    const portable = /^\\(?:x[0-9a-f]{2}|s|[\\[\]{}()^$.|*+?-])$/
    expect(pattern.match(escapes)?.filter((each) => !portable.test(each)) ?? []).toEqual([])
  })

  // The table above stands for the languages that not every machine has.
  test.runIf(spawnSync('python3', ['--version']).status === 0)(
    'matches the same texts in Python as in JavaScript',
    () => {
      const samples = fc.sample(texts, { seed: 1, numRuns: 500 }).filter(isPortable)
      const expression = new RegExp(pattern, 'u')
      expect(matchInPython(pattern, samples)).toEqual(samples.map((sample) => expression.test(sample)))
    },
  )
})

describe.for(['', 'u', 'v'])('in JavaScript with the flags "%s"', (flags) => {
  test('the pattern and the length of a name match exactly the names that the service accepts', () => {
    const expression = new RegExp(name.pattern, flags)
    const isDescribed = (text: string) => [...text].length <= name.maxLength && expression.test(text)
    expect(textsOfAllCharacters().filter((each) => isDescribed(each) !== isName(each))).toEqual([])
    fc.assert(
      fc.property(texts, (text) => isDescribed(text) === isName(text)),
      { seed: 1, numRuns: 2_000 },
    )
  })

  test('the pattern of an Idempotency-Key matches exactly the keys that the service accepts', () => {
    const expression = new RegExp(idempotencyKey, flags)
    const property = fc.property(texts.filter(isFieldValue), (text) => {
      expect(expression.test(text)).toBe(isIdempotencyKey(text))
    })
    fc.assert(property, { seed: 1, numRuns: 500 })
  })
})

function patternsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'pattern' && typeof value === 'string' ? [value] : patternsIn(value),
  )
}

/**
 * Omits texts for which languages differ with any pattern: `$` matches before a final line break in Python, Perl and Java, and
 * `\s` matches different white space beyond ASCII in each of them.
 */
function isPortable(text: string): boolean {
  return !/[\n\r\x85\u2028\u2029]$/.test(text) && !/(?![\0-\x7f])\s/.test(text)
}

/** Whether the service accepts the text as the name of a pet. */
function isName(name: string): boolean {
  return NewPet.safeParse({ name, categoryId: 1n }).success
}

function isIdempotencyKey(text: string): boolean {
  try {
    return readIdempotencyKeys({ 'idempotency-key': text }, 1) !== undefined
  } catch {
    return false
  }
}

/** Whether HTTP transmits this text unchanged as the value of a header (RFC 9110, section 5.5). */
function isFieldValue(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && text === text.trim()
}

function matchInPython(pattern: string, samples: string[]): boolean[] {
  const program = `
import base64, re, sys
pattern, *texts = [base64.b64decode(line).decode() for line in sys.stdin.read().split("\\n")]
print("".join("1" if re.search(pattern, text) else "0" for text in texts))`
  const input = [pattern, ...samples].map((text) => Buffer.from(text).toString('base64')).join('\n')
  const { status, stdout, stderr } = spawnSync('python3', ['-c', program], { input, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return [...stdout.trim()].map((digit) => digit === '1')
}
