import { appendFileSync, cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
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
  expect(manifest.scripts.prestart).toBe('node web/build.ts')

  // As two services that start at once would.
  const runs = [build(folder), build(folder)]
  for (const run of runs) expect(await outcome(run)).toEqual([0, ''])
  const { ino } = statSync(page)
  expect(await outcome(build(folder))).toEqual([0, ''])
  expect(statSync(page).ino).toBe(ino)

  appendFileSync(join(folder, 'client/retry.ts'), "\nconsole.log('newer')\n")
  expect(await outcome(build(folder))).toEqual([0, ''])
  expect(statSync(page).ino).not.toBe(ino)
  const assets = readdirSync(join(folder, 'web/dist/assets')).filter((name) => name.endsWith('.js'))
  expect(assets).toHaveLength(1)
  expect(readFileSync(join(folder, 'web/dist/assets', String(assets[0])), 'utf8')).toContain('newer')
})

test('where the tools for it are not installed, the start goes on without it', async () => {
  const [code, said] = await outcome(build(copyOfSources()))
  expect(code).toBe(0)
  expect(said).toMatch(/^The console is not built, since its tools are not installed: [^\n]+\.\n$/)
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

function build(folder: string): Run {
  // Whatever the shell says.
  return runCommand([process.execPath, 'web/build.ts'], { folder, env: { NODE_ENV: 'development' } })
}

async function outcome(run: Run): Promise<[code: number | NodeJS.Signals, said: string]> {
  return [await run.ended, run.stdout + run.stderr]
}
