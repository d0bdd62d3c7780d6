import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The Markdown documents of the repository, for tests that compare them with the code. */

export const root = join(import.meta.dirname, '../..')

export interface Document {
  /** Relative to the root of the repository, with slashes. */
  path: string
  text: string
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/**
 * The paths of all files except those of dependencies and builds, relative to the root and with slashes.
 *
 * @throws {Error} if the pattern matches nothing, as after a move
 */
export function filesMatching(pattern: string): string[] {
  const exclude = (path: string) => /(^|[\\/])(node_modules|data|dist)$/.test(path)
  const paths = globSync(pattern, { cwd: root, exclude }).map((path) => path.replaceAll('\\', '/'))
  if (paths.length === 0) throw new Error(`No file matches ${pattern}.`)
  return paths.sort()
}

export const documents: Document[] = filesMatching('**/*.md').map((path) => ({ path, text: read(path) }))

export function document(path: string): Document {
  const found = documents.find((each) => each.path === path)
  if (!found) throw new Error(`There is no document ${path}.`)
  return found
}

export interface CodeBlock {
  language: string
  code: string
}

export function codeBlocksOf({ text }: Document, language?: string): CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .map(([, language = '', code = '']) => ({ language, code }))
    .filter((block) => language === undefined || block.language === language)
}

/** The content of `code spans`, outside of code blocks. */
export function codeSpansOf(document: Document): string[] {
  return [...proseOf(document).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

function proseOf({ text }: Document): string {
  return text.replaceAll(/^```.*?^```$/gms, '')
}

/** The targets of links and images, and the sources of HTML images. */
export function linksOf(document: Document): string[] {
  const prose = proseOf(document).replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)].map(([, link, source]) => link ?? source ?? '')
}

/** The anchors that GitHub generates for the headings. */
export function anchorsOf(document: Document): string[] {
  return [...proseOf(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

export interface Step {
  command: string
  output: string
}

/** The commands of the `console` blocks, each with the output that the document shows. */
export function stepsOf(document: Document): Step[] {
  return codeBlocksOf(document, 'console').flatMap(({ code }) =>
    code
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const end = step.indexOf('\n')
        return { command: step.slice(0, end), output: step.slice(end + 1).trimEnd() }
      }),
  )
}

/** The rows of the tables, without the header rows. */
export function rowsOf({ text }: Document): string[][] {
  const lines = text.split('\n')
  return lines
    .filter((line, index) => line.startsWith('|') && !/^\| *:?-/.test(line) && !/^\| *:?-/.test(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
