import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFirstKey, startServer } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('the stack traces of the handler of a create and of its statement show at most nine of our files', async () => {
  const folder = temporaryFolder()
  const key = await createFirstKey(folder)
  const NODE_OPTIONS = `--import=${join(import.meta.dirname, '../support/report-stacks.mjs')}`
  const server = await startServer({ folder, env: { NODE_OPTIONS } })
  const create = () =>
    fetch(`${server.url}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":1,"status":"sold"}',
    })
  expect((await create()).status).toBe(201)
  expect((await create()).status).toBe(201)
  const stacks = () =>
    [...server.stderr.matchAll(/^\{"stack".*\}$/gm)].map(([line]): { stack: string; files: string[] } =>
      JSON.parse(line),
    )
  const lastFilesOf = (name: string) => stacks().findLast(({ stack }) => stack === name)?.files ?? []
  await expect.poll(() => stacks().length).toBe(4)
  const fromStore = lastFilesOf('postMessage')
  const handler = fromStore.slice(fromStore.indexOf('server/pets/pets.ts'))
  const files = new Set([...handler, ...lastFilesOf('run')])
  expect(handler[0]).toBe('server/pets/pets.ts')
  expect(files).toContain('server/rest/adapter.ts')
  expect(files).toContain('db/sqlite/statements.ts')
  expect(files.size, [...files].join()).toBeLessThanOrEqual(9)
})
