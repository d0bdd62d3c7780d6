import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Run, runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { folders } from '../../sources.ts'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('two services that start at once can both build the console', async () => {
  const folder = copyOfSources()
  installQuickVite(folder)
  for (let round = 0; round < 2; round++) {
    appendFileSync(join(folder, 'engine/console/theme/base.css'), '\n')
    for (const run of [build(folder), build(folder)]) expect(await outcome(run)).toEqual([0, ''])
    expect(readdirSync(join(folder, 'web')).filter((name) => name.startsWith('dist'))).toEqual(['dist'])
    expect(readFileSync(join(folder, 'web/dist/index.html'), 'utf8')).toBe('for production')
  }
})

test('a failed build stops npm run, but not npm start, which uses an older console or none', async () => {
  const folder = copyOfSources()
  const reason = "Cannot find package 'vite' [^\\n]+\\n"
  const [code, said] = await outcome(build(folder, '--if-possible'))
  expect(code).toBe(0)
  expect(said).toMatch(new RegExp(`^The console could not be built, and the service starts with none\\. ${reason}$`))
  mkdirSync(join(folder, 'web/dist'))
  writeFileSync(join(folder, 'web/dist/index.html'), '')
  expect((await outcome(build(folder, '--if-possible')))[1]).toMatch(/ starts with an older one\. /)
  expect((await outcome(build(folder)))[0]).toBe(1)
})

test('npm start runs no program of Node before the service unless a source is newer than the build', async () => {
  const folder = copyOfSources()
  installQuickVite(folder)
  // Stands for Node, and notes what it is asked to run.
  const [bin, notes] = [join(folder, 'bin'), join(folder, 'notes')]
  mkdirSync(bin)
  writeFileSync(join(bin, 'node'), `#!/bin/sh\necho "$*" >> '${notes}'\nexec '${process.execPath}' "$@"\n`, {
    mode: 0o755,
  })
  const env = { PATH: `${bin}:${process.env.PATH}` }
  async function programsBeforeStart(): Promise<string[]> {
    writeFileSync(notes, '')
    expect(await outcome(runCommand(['sh', '-c', scripts.prestart], { folder, env }))).toEqual([0, ''])
    return readFileSync(notes, 'utf8').split('\n').slice(0, -1)
  }
  const all = ['server/node-version.mjs', 'web/build.ts --if-possible']

  expect(await programsBeforeStart()).toEqual(all)
  expect(await programsBeforeStart()).toEqual([])
  for (const source of [
    'web/main.tsx',
    'engine/console/theme/base.css',
    'engine/client/retry.ts',
    'engine/service/reader/csv.ts',
    'engine/store/words.ts',
    'server/router.ts',
    'package-lock.json',
    'tsconfig.json',
  ]) {
    appendFileSync(join(folder, source), '\n')
    expect(await programsBeforeStart(), source).toEqual(all)
    expect(await programsBeforeStart(), source).toEqual([])
  }
  expect(scripts.predev).toBe(scripts.prestart)
})

/** A copy of the sources of the program, without a build. */
function copyOfSources(): string {
  const folder = temporaryFolder()
  for (const path of [
    ...Object.values(folders).flat(),
    'sources.ts',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ]) {
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => source !== join(root, 'web/dist') && basename(source) !== 'test',
    })
  }
  return folder
}

/** Installs a replacement for Vite that takes 200 ms. These tests check when a build runs; the browser tests check its result. */
function installQuickVite(folder: string): void {
  const vite = join(folder, 'node_modules/vite')
  mkdirSync(vite, { recursive: true })
  writeFileSync(join(vite, 'package.json'), '{ "type": "module", "exports": "./vite.js" }')
  writeFileSync(
    join(vite, 'vite.js'),
    `import { mkdirSync, writeFileSync } from 'node:fs'
    export async function build({ build: { outDir } }) {
      mkdirSync(outDir)
      await new Promise((resolve) => setTimeout(resolve, 200))
      writeFileSync(outDir + '/index.html', 'for ' + process.env.NODE_ENV)
    }`,
  )
}

function build(folder: string, ...words: string[]): Run {
  // A build is always for production.
  return runCommand([process.execPath, 'web/build.ts', ...words], { folder, env: { NODE_ENV: 'development' } })
}

async function outcome(run: Run): Promise<[code: number | NodeJS.Signals, said: string]> {
  return [await run.ended, run.stdout + run.stderr]
}
