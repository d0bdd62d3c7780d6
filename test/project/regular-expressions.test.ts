import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSafePattern } from 'redos-detector'
import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { modulesOf } from '../../sources.ts'

const root = join(import.meta.dirname, '../..')
/** Expressions whose input comes only from the service or its operator. */
const harmless = ['\\/+$', '\\{(\\w+)\\}', '<script type="text\\/javascript">([^<]*)<\\/script>']
const expressions = modulesOf('server', 'service', 'store', 'client', 'package')
  .flatMap(literalsIn)
  .filter(({ pattern }) => !harmless.includes(pattern))

describe('no input can keep a regular expression busy', () => {
  test('the search for them finds them', () => {
    expect(expressions.length).toBeGreaterThan(15)
    expect(isSafePattern('^(a+)+$').safe).toBe(false)
  })

  test.for(expressions)('$file: /$pattern/$flags', ({ pattern, flags }) => {
    const options = { caseInsensitive: flags.includes('i'), unicode: flags.includes('u'), dotAll: flags.includes('s') }
    expect(isSafePattern(pattern, { ...options, timeout: 60_000 })).toMatchObject({ safe: true })
  })
})

interface Expression {
  file: string
  pattern: string
  flags: string
}

function literalsIn(file: string): Expression[] {
  const found: Expression[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('regex' in node) found.push({ file, ...(node.regex as Omit<Expression, 'file'>) })
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseAst(readFileSync(join(root, file), 'utf8'), { lang: 'ts' }))
  return found
}
