import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './pages.ts'

const root = join(import.meta.dirname, '../..')

/** @throws if a link of the built site leads to no file or heading of the site, or to no file of the repository. */
export function checkLinks(outDir: string, base: string): void {
  const read = (path: string) => readFileSync(join(outDir, path), 'utf8')
  const broken = globSync('**/*.html', { cwd: outDir }).flatMap((page) =>
    [...read(page).matchAll(/<[a-z]+\s[^>]*?(?:href|src)="([^"]+)"/g)]
      .filter(([, url = '']) => !leadsSomewhere(url, page))
      .map(([, url = '']): [url: string, page: string] => [url, page]),
  )
  // A link of the sidebar is on each page.
  const lines = [...new Map(broken)].map(([url, page]) => `${url} in ${page}`)
  if (lines.length > 0) throw new Error(`These links lead nowhere:\n${lines.join('\n')}`)

  function leadsSomewhere(url: string, page: string): boolean {
    const [, file] = /\/(?:blob|edit)\/main\/([^#]*)/.exec(url.startsWith(repository) ? url : '') ?? []
    if (file !== undefined) return existsSync(join(root, file))
    const { origin, pathname, hash } = new URL(url, `http://site${base}${page}`)
    if (origin !== 'http://site') return true
    const path = decodeURIComponent(pathname).slice(base.length)
    const target = [path, `${path}.html`, join(path, 'index.html')].find(
      (each) => /\.\w+$/.test(each) && existsSync(join(outDir, each)),
    )
    if (target === undefined || hash === '') return target !== undefined
    return read(target).includes(`id="${decodeURIComponent(hash.slice(1))}"`)
  }
}
