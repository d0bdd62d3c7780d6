import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readScalar } from '../server/rest/reference.ts'

// Makes what VitePress needs beside its configuration: the pages, as links in the layout of the repository, and the public
// files with the API reference.
const site = import.meta.dirname
const dist = join(site, 'dist')
rmSync(dist, { recursive: true, force: true })
mkdirSync(join(dist, 'pages/web'), { recursive: true })
for (const path of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'SUPPORT.md', 'docs', 'web/screenshots']) {
  symlinkSync(join(site, '..', path), join(dist, 'pages', path))
}

const api = join(dist, 'public/api')
mkdirSync(api, { recursive: true })
cpSync(join(site, '../web/public/favicon.svg'), join(dist, 'public/favicon.svg'))
cpSync(join(site, 'api.html'), join(api, 'index.html'))
cpSync(join(site, '../server/rest/openapi.json'), join(api, 'openapi.json'))
writeFileSync(join(api, 'scalar.js'), await readScalar())
