import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readScalar } from '../server/rest/reference.ts'

// Makes what VitePress needs beside its configuration: a link to the documents, and the folder of the API reference.
const site = import.meta.dirname
rmSync(join(site, 'docs'), { force: true })
symlinkSync('../docs', join(site, 'docs'))

const folder = join(site, 'public/api')
mkdirSync(folder, { recursive: true })
cpSync(join(site, 'api.html'), join(folder, 'index.html'))
cpSync(join(site, '../server/rest/openapi.json'), join(folder, 'openapi.json'))
writeFileSync(join(folder, 'scalar.js'), readScalar().content)
