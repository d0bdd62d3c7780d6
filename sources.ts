import { globSync } from 'node:fs'

/** Where the sources are, for the tests of the project, the coverage, the builds and `npm run dev`. */

const root = import.meta.dirname

/** The code that any product could use, without what {@link product} has. */
export const engines = {
  store: ['db/**/*.{ts,mjs}'],
  service: ['server/**/*.{ts,mjs}'],
  client: ['client/*.ts'],
  console: ['web/**/*.{ts,tsx,css,html}'],
}

/** The code of this product, which gives the engines what they do not know. */
export const product = [
  'client/index.ts',
  'db/{pets/*,resources,postgres/drizzle.config}.ts',
  'server/{main,router,service,trpc}.ts',
  'server/{launch,node-version}.mjs',
  'server/pets/*.ts',
  'web/{,docs/}index.html',
  'web/{main.tsx,docs/main.ts}',
  'web/pets/*',
]

/** What a build makes. */
const built = ['client/dist', 'web/dist', 'web/dist.*']

/**
 * The files that match the patterns, relative to the root, in order.
 *
 * @throws {Error} if one of the patterns matches none, so that a move cannot leave a list behind.
 */
export function filesOf(patterns: string[], exclude: string[] = []): string[] {
  const found = patterns.map((pattern) => {
    const files = globSync(pattern, { cwd: root, exclude: [...built, ...exclude], withFileTypes: true })
    const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`)
    if (paths.length === 0) throw new Error(`No file matches ${pattern}, a pattern of sources.ts or of its users.`)
    return paths.map((path) => path.slice(root.length + 1))
  })
  return [...new Set(found.flat())].sort()
}
