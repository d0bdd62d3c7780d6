import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { DefaultTheme } from 'vitepress'

export const repository = 'https://github.com/petstore-service/petstore'
/** Links to the documents, in the layout of the repository. */
export const pages = join(import.meta.dirname, '../dist/pages')

/** The page of a document, such as `guides/python.md` for `docs/guides/python.md`. The README is the first page. */
export function pageOf(document: string): string {
  if (document === 'docs/README.md') return 'documentation.md'
  return document
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.md')
    .toLowerCase()
}

/** The path of a link from one file of the repository to another. A file that is no page leads to the repository. */
export function toSite(href: string, from: string): string {
  const [path = '', anchor] = href.split('#')
  const target = posix.join(posix.dirname(from), path)
  const isPage = target.endsWith('.md') && existsSync(join(pages, target))
  const url = isPage ? `/${pageOf(target).replace(/(index)?\.md$/, '')}` : `${repository}/blob/main/${target}`
  return anchor === undefined ? url : `${url}#${anchor}`
}

/** The groups and links of docs/README.md. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const overview = 'docs/README.md'
  const groups: DefaultTheme.SidebarItem[] = [{ items: [{ text: 'Get started', link: '/' }] }]
  for (const line of readFileSync(join(pages, overview), 'utf8').split('\n')) {
    const [, heading, group] = /^(?:## ([^:]*).*|\*\*(.*)\*\*)$/.exec(line) ?? []
    const [, text, href] = /^- \[(.*?)\]\((.*?)\)/.exec(line) ?? []
    const title = heading ?? group
    if (title !== undefined) groups.push({ text: title, items: [] })
    if (text !== undefined && href !== undefined) {
      groups.at(-1)?.items?.push({ text: text.replaceAll('`', ''), link: toSite(href, overview) })
    }
  }
  return groups.filter(({ items }) => items?.length !== 0)
}
