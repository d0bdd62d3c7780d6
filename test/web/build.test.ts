import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Run, runCommand } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('npm start builds the console if it is missing or stale, and only then', async () => {
  const folder = copyOfSources()
  installQuickVite(folder)
  const page = join(folder, 'web/dist/index.html')
  expect(scripts.prestart).toMatch(/ && node web\/build\.ts --if-possible$/)

  // As two services that start at once would.
  const runs = [build(folder), build(folder)]
  for (const run of runs) expect(await outcome(run)).toEqual([0, ''])
  expect(readdirSync(join(folder, 'web')).filter((name) => name.startsWith('dist'))).toEqual(['dist'])
  expect(readFileSync(page, 'utf8')).toBe('for production')

  expect(await outcome(build(folder))).toEqual([0, ''])
  expect(builds(folder)).toBe(2)
  // Wherever it is.
  const elsewhere = `${folder}-elsewhere`
  renameSync(folder, elsewhere)
  expect(await outcome(build(elsewhere))).toEqual([0, ''])
  renameSync(elsewhere, folder)
  expect(builds(folder)).toBe(2)

  for (const [index, source] of [
    'web/console.css',
    'client/retry.ts',
    'package-lock.json',
    'tsconfig.json',
  ].entries()) {
    const { ino } = statSync(page)
    appendFileSync(join(folder, source), '\n')
    expect(await outcome(build(folder))).toEqual([0, ''])
    expect(builds(folder), source).toBe(3 + index)
    expect(statSync(page).ino).not.toBe(ino)
  }

  // Both find it stale, and put theirs in its place at the same moment.
  for (let round = 0; round < 5; round++) {
    appendFileSync(join(folder, 'web/console.css'), '\n')
    for (const run of [build(folder), build(folder)]) expect(await outcome(run)).toEqual([0, ''])
  }
})

test('where it cannot be built, the start goes on without it or with an older one, and nothing else does', async () => {
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

test('a Node that is too old is told so before anything else', () => {
  expect(scripts.prestart).toMatch(/^node server\/node-version\.mjs && /)
})

/** What the console is made from, without what has been made from it. */
function copyOfSources(): string {
  const folder = temporaryFolder()
  for (const path of ['web', 'client', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => source !== join(root, 'web/dist'),
    })
  }
  return folder
}

/** In the place of Vite, which takes seconds: when to build is the question here, and the browser's tests look at what. */
function installQuickVite(folder: string): void {
  const vite = join(folder, 'node_modules/vite')
  mkdirSync(vite, { recursive: true })
  writeFileSync(join(vite, 'package.json'), '{ "type": "module", "exports": "./vite.js" }')
  writeFileSync(
    join(vite, 'vite.js'),
    `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
    export async function build({ build: { outDir } }) {
      appendFileSync(new URL('builds', import.meta.url), '.')
      mkdirSync(outDir)
      await new Promise((resolve) => setTimeout(resolve, 200))
      writeFileSync(outDir + '/index.html', 'for ' + process.env.NODE_ENV)
    }`,
  )
}

/** How many there have been. */
function builds(folder: string): number {
  return readFileSync(join(folder, 'node_modules/vite/builds')).length
}

function build(folder: string, ...words: string[]): Run {
  // Whatever the shell says.
  return runCommand([process.execPath, 'web/build.ts', ...words], { folder, env: { NODE_ENV: 'development' } })
}

async function outcome(run: Run): Promise<[code: number | NodeJS.Signals, said: string]> {
  return [await run.ended, run.stdout + run.stderr]
}
