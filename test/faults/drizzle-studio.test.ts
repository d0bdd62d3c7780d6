import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { makeDatabase, openFileStore } from '../support/petstore.ts'

const root = join(import.meta.dirname, '../..')

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
