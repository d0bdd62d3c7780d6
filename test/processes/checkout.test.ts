import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { codeBlocksOf, document, root } from '../support/documents.ts'
import { commandLine, openFileStore } from '../support/petstore.ts'

test('the documented options of Node open the inspector, and write a profile when the service stops', async () => {
  const lines = codeBlocksOf(document('docs/guides/operations.md'), 'sh').flatMap(({ code }) => code.trim().split('\n'))
  const options = lines.flatMap((line) => /^node (.*) server\/launch\.mjs$/.exec(line)?.[1]?.split(' ') ?? [])
  expect(options).toContain('--inspect')
  const [node = '', ...launcher] = commandLine
  const anyPort = options.map((option) => (option === '--inspect' ? '--inspect=0' : option))
  const folder = temporaryFolder()
  const server = await whenListening(runCommand([node, ...anyPort, ...launcher], { folder, env: { PORT: '0' } }))
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
