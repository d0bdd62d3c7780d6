import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseAst } from 'vite'
import { describe, expect, test } from 'vitest'
import { texts as de } from '../../web/messages/de.ts'
import { texts as en } from '../../web/messages/en.ts'
import { formatsOf } from '../../web/messages/formats.ts'
import { texts as dePets } from '../../web/pets/de.ts'
import { texts as enPets } from '../../web/pets/en.ts'

const web = join(import.meta.dirname, '../../web')

describe('the plural follows the number', () => {
  test.for([
    [0, '0 pets were exported.', '0 Tiere exportiert.'],
    [1, '1 pet was exported.', '1 Tier exportiert.'],
    [2, '2 pets were exported.', '2 Tiere exportiert.'],
    [1_000, '1,000 pets were exported.', '1.000 Tiere exportiert.'],
  ] as const)('%i', ([count, english, german]) => {
    expect(en.export.done(enPets.noun, count)).toBe(english)
    expect(de.export.done(dePets.noun, count)).toBe(german)
  })

  test.for([
    [0, '0 pets can be added', '0 Tiere können hinzugefügt werden'],
    [1, '1 pet can be added, 1 row has a problem', '1 Tier kann hinzugefügt werden, 1 Zeile hat einen Fehler'],
    [2, '2 pets can be added, 2 rows have a problem', '2 Tiere können hinzugefügt werden, 2 Zeilen haben einen Fehler'],
  ] as const)('%i, in several words', ([count, english, german]) => {
    expect(en.bulk.summary(enPets.noun, count, count)).toBe(english)
    expect(de.bulk.summary(dePets.noun, count, count)).toBe(german)
  })

  test('a category without a form has that of the others', () => {
    const { plural } = formatsOf('en')
    expect([1, 2].map((count) => plural(count, { other: 'sheep' }))).toEqual(['sheep', 'sheep'])
  })
})

test('no component contains a text for the user, or the texts of only one language', () => {
  const components = globSync('**/*.tsx', { cwd: web, exclude: ['dist*/**'] })
  expect(components.length).toBeGreaterThan(20)
  const found = components.flatMap((path) => {
    const source = readFileSync(join(web, path), 'utf8')
    return textsIn(parseAst(source, { lang: 'tsx' })).map((text) => `${path}: ${text}`)
  })
  expect(found).toEqual([])
  const sources = globSync('**/*.{ts,tsx}', { cwd: web, exclude: ['dist*/**'] })
  const importers = sources.filter((path) => {
    const values = readFileSync(join(web, path), 'utf8').matchAll(/^import \{(.*)\} from '.*\/(?:en|de)\.ts'/gm)
    return [...values].some(([, names = '']) => names.split(',').some((name) => !/^\s*type /.test(name)))
  })
  const allowed = ['messages/provider.tsx', 'pets/pet.ts', 'resource/use-page.ts']
  expect(importers.filter((path) => !allowed.includes(path) && !/^(?:en|de)\.ts$/.test(basename(path)))).toEqual([])
})

test('only the texts of pets name them', () => {
  const nouns = [enPets, dePets].flatMap(({ noun }) => Object.values(noun))
  // Also other cases, such as the dative.
  const named = new RegExp(`\\b(?:${nouns.join('|')})[ns]?\\b`, 'i')
  expect('Find pets and commands').toMatch(named)
  const sources = globSync('**/*.{ts,tsx,html}', { cwd: web, exclude: ['dist*/**', 'pets/**', 'main.tsx'] })
  expect(sources.length).toBeGreaterThan(50)
  expect(sources.filter((path) => named.test(readFileSync(join(web, path), 'utf8')))).toEqual([])
})

test('a text in a component is found', () => {
  const code = `const a = <b title="Hello"><i aria-label={x ? 'On' : y}>Text {z && 'more'} <code>npm ci</code></i></b>`
  expect(textsIn(parseAst(code, { lang: 'tsx' }))).toEqual(['Hello', 'On', 'Text', 'more'])
})

const shownAttributes = /^(?:aria-(?:label|description|valuetext)|alt|description|error|label|placeholder|title)$/

/** The literals that a component shows: in JSX, or in an attribute that users see. Code is the same in every language. */
function textsIn(node: unknown, isShown = false): string[] {
  if (Array.isArray(node)) return node.flatMap((each) => textsIn(each, isShown))
  if (!isNode(node)) return []
  const { type, value } = node
  if (type === 'JSXText' || (type === 'Literal' && typeof value === 'string')) {
    return (isShown || type === 'JSXText') && /\p{L}/u.test(String(value)) ? [String(value).trim()] : []
  }
  if (type === 'TemplateElement') {
    const text = isNode(value) ? String(value.cooked) : ''
    return isShown && /\p{L}/u.test(text) ? [text] : []
  }
  if (type === 'JSXAttribute') return textsIn(value, shownAttributes.test(nameOf(node.name)))
  if (type === 'JSXElement') {
    const opening = isNode(node.openingElement) ? node.openingElement : {}
    const attributes = textsIn(opening.attributes)
    return nameOf(opening.name) === 'code' ? attributes : [...attributes, ...textsIn(node.children, true)]
  }
  // What a call gets or compares is not shown.
  if (type === 'CallExpression') return textsIn([node.callee, node.arguments])
  if (type === 'BinaryExpression' || type === 'MemberExpression') return []
  if (type === 'ConditionalExpression') return textsIn([node.consequent, node.alternate], isShown)
  if (type === 'JSXExpressionContainer' || type === 'LogicalExpression' || type === 'TemplateLiteral') {
    return Object.values(node).flatMap((each) => textsIn(each, isShown))
  }
  return Object.values(node).flatMap((each) => textsIn(each))
}

function isNode(node: unknown): node is Record<string, unknown> {
  return typeof node === 'object' && node !== null
}

function nameOf(node: unknown): string {
  return isNode(node) ? String(node.name) : ''
}
