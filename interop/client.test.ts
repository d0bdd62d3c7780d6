import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../engine/test/support/temporary.ts'
import { createFirstKey, startServer } from '../test/support/petstore.ts'

const modules = join(import.meta.dirname, 'node_modules')
const newestCompiler = join(import.meta.dirname, '../node_modules/typescript/bin/tsc')

test('the client that openapi-typescript generates compiles, has exact types and works', async () => {
  const folder = temporaryFolder()
  const apiKey = await createFirstKey(folder)
  const { url } = await startServer({ folder })

  const project = temporaryFolder()
  cpSync(join(import.meta.dirname, 'client'), project, { recursive: true })
  symlinkSync(modules, join(project, 'node_modules'))
  await runIn(project, generation(project).replace('http://127.0.0.1:3000', url))
  await runIn(project, `${newestCompiler} --noEmit`)
  await runIn(project, 'tsc')

  const { usePetstore } = await import(pathToFileURL(join(project, 'out/usage.js')).href)
  const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' }
  expect(await usePetstore(url, apiKey)).toEqual({
    created: rex,
    location: '/v1/pets/1',
    sold: [{ id: 2, name: 'Minka', categoryId: 7, status: 'sold' }],
    link: `<${url}/v1/pets?limit=1&status=sold&cursor=2>; rel="next"`,
    found: rex,
    refused: [400, 'invalid_request', 'limit: expected an integer from 1 to 100, got 101'],
    withoutKey: [401, 'unauthorized'],
  })
})

/** The command that generates the client, from the first comment of its use. */
function generation(project: string): string {
  const command = /^\/\/ Made by: (.+)$/m.exec(readFileSync(join(project, 'usage.ts'), 'utf8'))?.[1]
  if (command === undefined) throw new Error('usage.ts has no comment that begins with "Made by: ".')
  return command
}

/** Runs a command of this folder's dependencies. If it fails, throws an error with its output. */
async function runIn(folder: string, command: string): Promise<void> {
  const [name = '', ...words] = command.split(' ')
  const env = { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH}` }
  await promisify(execFile)(name, words, { cwd: folder, env }).catch(({ message, stdout }) => {
    throw new Error(`${message}\n${stdout}`)
  })
}
