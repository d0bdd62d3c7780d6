import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockedDependencies } from '../deploy/package/locked-dependencies.ts'
import { freePort } from '../engine/test/support/free-port.ts'
import { type Run, runCommand, waitForOutput, whenListening } from '../engine/test/support/process.ts'
import { type AtEnd, temporaryFolder } from '../engine/test/support/temporary.ts'
import { bannerKey } from '../test/support/petstore.ts'
import { installService } from './installed-service.ts'

/** Milliseconds from the start of the process to the first 201. */
const maxStartTime = 10_000
/** The unprivileged user `nobody` and its group. */
const unprivileged = 65_534
const isRoot = process.getuid?.() === 0
const run = promisify(execFile)

/** The folder in which npm has installed the package. Nobody may write to it. */
let prefix: string
/** The built package, before it was packed. */
let built: string
const cleanings: Parameters<AtEnd>[0][] = []

beforeAll(async () => {
  const installed = await installService((clean) => cleanings.push(clean))
  built = installed.built
  prefix = installed.prefix
  setWritable(prefix, false)
  cleanings.push(() => setWritable(prefix, true))
}, 300_000)
afterAll(async () => {
  for (const clean of cleanings.toReversed()) await clean()
})

test('the installed service runs as an unprivileged user, and only its data folder is writable', async () => {
  const data = dataFolder()
  const start = performance.now()
  const env = { PORT: String(await freePort()), DATABASE_URL: `file:${data}/petstore.db`, TMPDIR: '/nonexistent' }
  const server = await whenListening(runUnprivileged([], { folder: data, env }))
  const key = await waitForOutput(server, bannerKey)
  const response = await fetch(`${server.url}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Rex', categoryId: 7 }),
  })
  expect(response.status).toBe(201)
  expect(performance.now() - start).toBeLessThan(maxStartTime)
  expect(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')).toContain('--max-old-space-size=512')

  const backup = runUnprivileged(['backup'], { folder: data, env })
  expect(await backup.ended, backup.stderr).toBe(0)
  expect((await fetch(server.url)).status).toBe(200)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(server.stderr).toBe('')
})

test('the user cannot write to the installed files', async () => {
  const attempt = runUnprivilegedCommand(['touch', join(prefix, 'node_modules/petstore-service/server/main.js')])
  expect(await attempt.ended).toBe(1)
  expect(attempt.stderr).toContain('Permission denied')
})

test('npm installs the versions of package-lock.json, and finds nothing wrong with them', async () => {
  const { stdout } = await run('npm', ['ls', '--all', '--json', '--prefix', prefix])
  expect(JSON.parse(stdout).problems ?? []).toEqual([])
  const { packages } = JSON.parse(readFileSync(join(built, 'package-lock.json'), 'utf8'))
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  const pinned = Object.keys({ ...dependencies, ...optionalDependencies }).map((name): [string, string] => [
    name,
    packages[`node_modules/${name}`].version,
  ])
  const installed = pinned.flatMap(([name, version]) => {
    const file = join(prefix, 'node_modules', name, 'package.json')
    return existsSync(file) ? [{ name, version, found: JSON.parse(readFileSync(file, 'utf8')).version }] : []
  })
  expect(installed.length).toBeGreaterThan(100)
  expect(installed.filter(({ version, found }) => found !== version)).toEqual([])
})

test('the SBOM of the package lists every dependency with its version and license', async () => {
  const { stdout } = await run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], { cwd: built })
  const { bomFormat, components } = JSON.parse(stdout)
  expect(bomFormat).toBe('CycloneDX')
  const listed: { name: string; version: string; licenses: object[] }[] = components
  const locked = Object.entries(lockedDependencies()).map(([path, { version }]) => `${nameOf(path)}@${version}`)
  expect(listed.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...new Set(locked)].sort())
  expect(listed.filter(({ licenses }) => !licenses?.length).map(({ name }) => name)).toEqual([])
})

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function dataFolder(): string {
  const folder = temporaryFolder()
  if (isRoot) chownSync(folder, unprivileged, unprivileged)
  return folder
}

function runUnprivileged(words: string[], options: { env: Record<string, string>; folder: string }): Run {
  return runUnprivilegedCommand([join(prefix, 'node_modules/.bin/petstore'), ...words], options)
}

/** Without root, the test already runs as an unprivileged user. */
function runUnprivilegedCommand(command: string[], options: Parameters<typeof runCommand>[1] = {}): Run {
  const ids = [`--reuid=${unprivileged}`, `--regid=${unprivileged}`, '--clear-groups']
  return runCommand([...(isRoot ? ['setpriv', ...ids] : []), ...command], options)
}

/** Changes the permissions of a folder and of everything in it. */
function setWritable(folder: string, isWritable: boolean): void {
  const entries = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => !entry.isSymbolicLink())
  const paths = entries.map((entry) => ({ path: join(entry.parentPath, entry.name), isFolder: entry.isDirectory() }))
  for (const { path, isFolder } of [{ path: folder, isFolder: true }, ...paths]) {
    const read = isFolder || path.includes('/bin/') ? 0o555 : 0o444
    chmodSync(path, isWritable ? read | 0o200 : read)
  }
}
