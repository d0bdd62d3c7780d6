import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { runCommand } from '../../engine/test/support/process.ts'

test('a run of the tests on PostgreSQL keeps its exit code', async () => {
  const server = pathToFileURL(join(import.meta.dirname, '../../engine/test/support/postgres/server.ts')).href
  const script = `await import(${JSON.stringify(server)}); process.exitCode = 3`
  expect(await runCommand([process.execPath, '--input-type=module', '-e', script]).ended).toBe(3)
})
