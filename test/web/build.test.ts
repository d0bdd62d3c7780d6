import { appendFileSync, cpSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Run, runCommand } from '../process.ts'
import { temporaryFolder } from '../temporary.ts'

const root = join(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('npm start builds the console if it is missing or stale, and only then', async () => {
  const folder = copyOfSources()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const page = join(folder, 'web/dist/index.html')
  expect(manifest.scripts.prestart).toMatch(/ && node web\/build\.ts --if-possible$/)

  // As two services that start at once would.
  const runs = [build(folder), build(folder)]
  for (const run of runs) expect(await outcome(run)).toEqual([0, ''])
  expect(readdirSync(join(folder, 'web')).filter((name) => name.startsWith('dist'))).toEqual(['dist'])
  const { ino } = statSync(page)
  expect(await outcome(build(folder))).toEqual([0, ''])
  expect(statSync(page).ino).toBe(ino)

  // Wherever it is.
  const elsewhere = `${folder}-elsewhere`
  renameSync(folder, elsewhere)
  expect(await outcome(build(elsewhere))).toEqual([0, ''])
  expect(statSync(join(elsewhere, 'web/dist/index.html')).ino).toBe(ino)
  renameSync(elsewhere, folder)

  appendFileSync(join(folder, 'client/retry.ts'), "\nconsole.log('newer')\n")
  expect(await outcome(build(folder))).toEqual([0, ''])
  expect(statSync(page).ino).not.toBe(ino)
  const assets = readdirSync(join(folder, 'web/dist/assets')).filter((name) => name.endsWith('.js'))
  expect(assets).toHaveLength(1)
  expect(readFileSync(join(folder, 'web/dist/assets', String(assets[0])), 'utf8')).toContain('newer')

  for (const source of ['web/console.css', 'package-lock.json', 'tsconfig.json']) {
    const before = statSync(page).ino
    appendFileSync(join(folder, source), '\n')
    expect(await outcome(build(folder))).toEqual([0, ''])
    expect(statSync(page).ino, source).not.toBe(before)
  }
})

test('where it cannot be built, the start goes on without it, and nothing else does', async () => {
  const folder = copyOfSources()
  const [code, said] = await outcome(build(folder, '--if-possible'))
  expect(code).toBe(0)
  expect(said).toMatch(
    /^The console could not be built, and the service starts with none\. Cannot find package 'vite' [^\n]+\n$/,
  )
  expect((await outcome(build(folder)))[0]).toBe(1)
})

test('a Node that is too old is told so before anything else', () => {
  expect(manifest.scripts.prestart).toMatch(/^node server\/node-version\.mjs && /)
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

function build(folder: string, ...words: string[]): Run {
  // Whatever the shell says.
  return runCommand([process.execPath, 'web/build.ts', ...words], { folder, env: { NODE_ENV: 'development' } })
}

async function outcome(run: Run): Promise<[code: number | NodeJS.Signals, said: string]> {
  return [await run.ended, run.stdout + run.stderr]
}
