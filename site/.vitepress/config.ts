import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { checkLinks } from './links.ts'
import { addDiagrams, addSiteLinks, copyCommandsOnly } from './markdown.ts'
import { pageOf, repository, sidebar } from './pages.ts'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))

/** To publish the site below a path, build it with `--base /path/`. */
export default defineConfig({
  title: 'Petstore',
  description: 'A pet store service with REST and typed RPC from the same procedures.',
  head: [['style', {}, readFileSync(join(import.meta.dirname, 'style.css'), 'utf8')]],
  srcDir: 'dist/pages',
  outDir: 'dist/site',
  cleanUrls: true,
  // checkLinks examines the links of the built site.
  ignoreDeadLinks: true,
  rewrites: pageOf,
  vite: {
    publicDir: join(import.meta.dirname, '../dist/public'),
    // The pages are links, so that the compiled pages find the dependencies of this folder.
    resolve: { preserveSymlinks: true },
  },
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    codeTransformers: [copyCommandsOnly],
    config: (markdown) => {
      addSiteLinks(markdown)
      addDiagrams(markdown)
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        // The background explains, and so repeats the words of the guides.
        miniSearch: { searchOptions: { boostDocument: (id: string) => (id.includes('/background/') ? 0.3 : 1) } },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'API reference', link: '/api/', target: '_self' },
      { text: `Version ${version}`, link: `${repository}/blob/main/CHANGELOG.md` },
    ],
    sidebar: sidebar(),
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path` },
  },
  transformHead: ({ siteData }) => [
    ['link', { rel: 'icon', href: `${siteData.base}favicon.svg`, type: 'image/svg+xml' }],
  ],
  buildEnd: ({ outDir, site }) => checkLinks(outDir, site.base),
})

/** As GitHub makes the anchors of headings, so that links work on both. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
