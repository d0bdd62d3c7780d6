import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

const docs = join(import.meta.dirname, '../docs')
const repository = 'https://github.com/petstore-service/petstore'

/** A link that leads nowhere fails the build. To publish the site below a path, build it with `--base /path/`. */
export default defineConfig({
  title: 'Petstore',
  description: 'A pet store service with REST and typed RPC from the same procedures.',
  srcDir: 'docs',
  outDir: './dist',
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md', ':folder(.*)/README.md': ':folder/index.md' },
  vite: {
    publicDir: join(import.meta.dirname, '../public'),
    // docs/ is a link, so that the compiled documents find the dependencies of this folder.
    resolve: { preserveSymlinks: true },
  },
  markdown: {
    anchor: { slugify },
    config: (markdown) => {
      markdown.core.ruler.push('links-outside-of-docs', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href')
          if (token.type === 'link_open' && href !== null) token.attrSet('href', toSite(href, env.relativePath))
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: 'API reference', link: '/api/', target: '_self' }],
    sidebar: ['Guides', 'Reference', 'Background'].map(sectionOf),
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
})

/** As GitHub makes the anchors of headings, so that links work on both. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** A link to a file outside of docs/ leads to the repository. */
function toSite(href: string, from: string): string {
  const [path = '', anchor] = href.split('#')
  if (/^[a-z]+:/.test(href) || path === '') return href
  const target = posix.join('docs', posix.dirname(from), path)
  if (target.startsWith('docs/')) return href
  return `${repository}/blob/main/${target}${anchor === undefined ? '' : `#${anchor}`}`
}

function sectionOf(text: string): DefaultTheme.SidebarItem {
  const folder = text.toLowerCase()
  const items = globSync(`${folder}/**/*.md`, { cwd: docs })
    .map((path) => ({ text: titleOf(path), link: `/${path.replace(/(README)?\.md$/, '')}` }))
    .sort((one, other) => one.text.localeCompare(other.text))
  return { text, items, collapsed: text === 'Background' }
}

function titleOf(path: string): string {
  return /^# (.*)$/m.exec(readFileSync(join(docs, path), 'utf8'))?.[1]?.replaceAll('`', '') ?? path
}
