import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import manifest from '../../package.json' with { type: 'json' }
import { root } from '../support/documents.ts'
import { bannerKey } from '../support/petstore.ts'

const run = promisify(execFile)
/** The assets of a release, which npm run release:assets makes. */
const assets = join(root, 'dist/release')

test.for(['client', 'service'])(
  'the package of the %s contains the listed files (npm run release:update updates the list)',
  async (name) => {
    const { stdout } = await run('tar', ['--list', '--gzip', '--file', tarballOf(name)])
    const paths = stdout
      .trimEnd()
      .split('\n')
      .map((path) =>
        // The names of the console's assets contain the hash of their content.
        path.replace(/^package\//, '').replace(/(?<=web\/dist\/assets\/.*)-[\w-]{6}(?=\.)/, '-HASH'),
      )
    await expect(`${paths.toSorted().join('\n')}\n`).toMatchFileSnapshot(`${name}-files.txt`)
  },
)

test('the client installs, for import and for require', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarballOf('client')], { cwd: folder })
  const used = "createPetstoreClient({ url: 'http://127.0.0.1:3000', apiKey: 'key' }).pets.list.query.name"
  for (const words of [
    [
      '--input-type=module',
      '--eval',
      `import { createPetstoreClient } from 'petstore-client'; console.log(typeof ${used})`,
    ],
    ['--eval', `const { createPetstoreClient } = require('petstore-client'); console.log(typeof ${used})`],
  ]) {
    expect((await run(process.execPath, words, { cwd: folder })).stdout).toBe('function\n')
  }
})

test("npm exec of the service's package in an empty folder creates a pet within a minute, and installs at most 250 MB", async () => {
  const folder = temporaryFolder()
  // A separate folder for what npm exec installs, with the packages that npm has downloaded before.
  const cache = join(folder, 'cache')
  mkdirSync(cache)
  const { stdout } = await run('npm', ['config', 'get', 'cache'], { cwd: root })
  symlinkSync(join(stdout.trim(), '_cacache'), join(cache, '_cacache'))
  // Safe: no value of process.env is undefined.
  const env = {
    ...(process.env as Record<string, string>),
    npm_config_cache: cache,
    npm_config_prefer_offline: 'true',
    PORT: '0',
  }
  const command = ['npm', 'exec', '--yes', `--package=${tarballOf('service')}`, '--', 'petstore']
  // The limit does not include downloads, and npm's cache may have only some of the packages.
  const download = runCommand([...command, '--version'], { folder, env })
  expect(await download.ended, download.stderr).toBe(0)
  rmSync(join(cache, '_npx'), { recursive: true })

  const start = performance.now()
  const npm = runCommand(['setsid', ...command], { folder, env })
  // npm does not pass signals on to the service: kill its process group.
  onTestFinished(() => void process.kill(-Number(npm.child.pid), 'SIGKILL'))
  const server = await whenListening(npm)
  const response = await fetch(`${server.url}/v1/pets`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await waitForOutput(server, bannerKey)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'Rex', categoryId: 7 }),
  })
  expect(response.status).toBe(201)
  const time = performance.now() - start
  const { stdout: size } = await run('du', ['-sm', join(cache, '_npx')])
  // For a busy machine. Otherwise it takes 6 s.
  expect(time).toBeLessThan(60_000)
  expect(Number.parseInt(size, 10)).toBeLessThan(250)
})

function tarballOf(name: string): string {
  return join(assets, `petstore-${name}-${manifest.version}.tgz`)
}
