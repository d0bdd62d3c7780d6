import { expect, test } from 'vitest'
import { codeBlocksOf, document, read } from '../support/documents.ts'

test('the code of the recipes is that of the fixture', () => {
  const lines = codeBlocksOf(document('docs/guides/extend.md'), 'ts').flatMap(({ code }) => code.trimEnd().split('\n'))
  expect(lines.length).toBeGreaterThan(10)
  let file: string[] = []
  for (const line of lines) {
    const [, path] = /^\/\/ (\S+\.ts)$/.exec(line) ?? []
    if (path !== undefined) file = read(path).split('\n')
    else expect(file).toContain(line)
  }
})
