import { cpSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import { runCommand, stopService, waitForOutput, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { folders, program } from '../../sources.ts'
import { codeBlocksOf, document, read, root } from '../support/documents.ts'
import { commandLine, makeDatabase, openFileStore } from '../support/petstore.ts'

/** What developers run in a checkout. */

test('the documented options of Node open the inspector, and write a profile when the service stops', async () => {
  const lines = codeBlocksOf(document('docs/guides/operations.md'), 'sh').flatMap(({ code }) => code.trim().split('\n'))
  const options = lines.flatMap((line) => /^node (.*) server\/launch\.mjs$/.exec(line)?.[1]?.split(' ') ?? [])
  expect(options).toContain('--inspect')
  const [node = '', ...launcher] = commandLine
  const anyPort = options.map((option) => (option === '--inspect' ? '--inspect=0' : option))
  const folder = temporaryFolder()
  const server = await whenListening(runCommand([node, ...anyPort, ...launcher], { folder }))
  expect(server.stderr).toMatch(/^Debugger listening on ws:\/\/127\.0\.0\.1:/)
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)
  expect(readdirSync(join(folder, 'data/profiles'))).toEqual([expect.stringMatching(/\.cpuprofile$/)])
})

test('npx runs the command of a checkout on its own Node, also below its root, and passes options on', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  openFileStore(path)
  const env = { DATABASE_URL: `file:${path}` }
  for (const folder of [root, join(root, 'server')]) {
    const words = ['npx', '--no', '--', 'petstore', 'keys', 'create', basename(folder), '--expires', '30d']
    const run = runCommand(words, { folder, env })
    expect([await run.ended, run.stdout]).toEqual([0, expect.stringMatching(/^pet_\w+\n$/)])
    expect(run.stderr).toContain('The key expires at ')
  }
})

const { scripts } = JSON.parse(read('package.json'))

test('"npm run dev" restarts after every kind of save, and recovers when a syntax error is fixed', async () => {
  const folder = temporaryFolder()
  for (const name of [...program.flatMap((part) => folders[part]), 'engine/dev.ts', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'engine/service/serve/serve.ts')
  const code = readFileSync(file, 'utf8')
  const versioned = (version: string) => code.replace('listening at', `${version} listening at`)

  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const run = runCommand(['sh', '-c', scripts.dev], { folder, env: { PATH } })
  // SIGKILL would leave the service running.
  onTestFinished(async () => {
    run.child.kill('SIGTERM')
    await run.ended
  })
  await waitForOutput(run, /("listening at)/)

  saveByRename(file, versioned('second'))
  await waitForOutput(run, /(second listening at)/)
  writeFileSync(file, versioned('third'))
  await waitForOutput(run, /(third listening at)/)
  saveByRename(file, `${code}\nconst =`)
  await expect.poll(() => run.stderr).toContain('starts again when a source file changes')
  writeFileSync(file, versioned('fourth'))
  await waitForOutput(run, /(fourth listening at)/)

  await stopService(run)
})

function saveByRename(path: string, text: string): void {
  writeFileSync(`${path}~`, text)
  renameSync(`${path}~`, path)
}

test('drizzle-kit studio reads the database of DATABASE_URL with the configuration of the project', async () => {
  const path = join(temporaryFolder(), 'petstore.db')
  await openFileStore(path).pets.create({ name: 'Rex', categoryId: 9007199254740993n, status: 'sold' })
  const port = await freePort()
  const studio = [join(root, 'node_modules/drizzle-kit/bin.cjs'), 'studio', '--host=127.0.0.1', `--port=${port}`]
  const run = runCommand([process.execPath, ...studio], { folder: root, env: { DATABASE_URL: `file:${path}` } })
  const read = { type: 'proxy', data: { sql: 'SELECT name, category_id FROM pets', method: 'all' } }
  const headers = { 'content-type': 'application/json' }
  const send = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: JSON.stringify(read) })
    return response.json()
  }
  await expect
    .poll(() => send().catch(() => run.stdout + run.stderr))
    // Rounded.
    .toEqual([{ name: 'Rex', category_id: 9007199254740992 }])
})

test('drizzle-kit push has no database, so that it cannot drop the journal of the migrations', async () => {
  const path = makeDatabase(join(temporaryFolder(), 'petstore.db'), 1)
  const before = readFileSync(path)
  const push = [join(root, 'node_modules/drizzle-kit/bin.cjs'), 'push', '--force']
  const run = runCommand([process.execPath, ...push], { folder: root, env: { DATABASE_URL: `file:${path}` } })
  expect(await run.ended).not.toBe(0)
  expect(run.stdout + run.stderr).toContain('url')
  expect(readFileSync(path).equals(before)).toBe(true)
})
