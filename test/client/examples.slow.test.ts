import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { addPets, startTestApi } from '../support/petstore.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const examples = join(root, 'examples')

// The examples import the built package.
beforeAll(() => run(process.execPath, [join(root, 'deploy/client/build.ts')]))

test('repeated runs of the script add one pet, read all pages and show an error', async () => {
  const { env, store } = await startService()
  await addPets(store, 150)
  const words = [join(examples, 'script.ts')]
  const first = await run(process.execPath, words, { env })
  const pets = Array.from({ length: 150 }, (_, index) => `${index + 1} pet ${index + 1}`)
  expect(first.stdout.split('\n')).toEqual([
    'Rex has the id 151.',
    ...pets,
    '151 Rex',
    'invalid_request: name: expected at least one character that is not white space',
    '',
  ])
  const second = await run(process.execPath, words, { env })
  expect(second.stdout).toBe(first.stdout)
})

test("the script with tRPC's own links sends more calls at once than one batch allows", async () => {
  const { env, store } = await startService()
  await addPets(store, 50)
  const { stdout } = await run(process.execPath, [join(examples, 'links.ts')], { env })
  expect(stdout).toBe(Array.from({ length: 50 }, (_, index) => `pet ${index + 1}\n`).join(''))
})

async function startService() {
  const { app, key, store } = await startTestApi()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { env: { PATH: process.env.PATH, PETSTORE_URL: url, KEY: key }, store }
}
