import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { change } from '../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { codeBlocksOf, document } from '../support/documents.ts'
import { createFirstKey, startServer } from '../support/petstore.ts'

/** Starts a service with the pet 7, Rex, which is sold and removed. */
async function startAndChange(env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const apiKey = await createFirstKey(folder)
  change(
    join(folder, 'data/petstore.db'),
    "INSERT INTO pets (id, name, category_id, status) VALUES (7, 'Rex', 1, 'available')",
  )
  const { url } = await startServer({ folder, env })
  const { pets } = createPetstoreClient({ url, apiKey })
  await pets.update.mutate({ petId: 7n, status: 'sold' })
  await pets.remove.mutate({ petId: 7n })
  return { folder, pets }
}

test("the guide's commands find the changes of a pet, and a removed pet by its name", async () => {
  const { folder } = await startAndChange()
  const commands = codeBlocksOf(document('docs/guides/operations.md'), 'sh')
    .flatMap(({ code }) => code.trimEnd().split('\n'))
    .filter((command) => command.startsWith('sqlite3 '))
  expect(commands).toHaveLength(2)
  const outputs: string[] = []
  for (const command of commands) {
    const run = runCommand(['sh', '-c', command], { folder })
    expect([await run.ended, run.stderr]).toEqual([0, ''])
    outputs.push(run.stdout)
  }
  const update = '|test|pets|7|{"status":"available"}|{"status":"sold"}|<key>\n'
  const removal = '|test|pets|7|{"name":"Rex","categoryId":1,"status":"sold"}||<key>\n'
  const [ofPet = '', removed = ''] = outputs.map((output) =>
    output.replaceAll(/^\d+\|\d{4}-[^|]+Z/gm, '').replaceAll(/\|[0-9a-f]{32}$/gm, '|<key>'),
  )
  expect(ofPet).toBe(update + removal)
  expect(removed).toBe(removal)
})

test('HISTORY_DAYS of 0 keeps no history', async () => {
  const { pets } = await startAndChange({ HISTORY_DAYS: '0' })
  expect(await pets.history.query()).toEqual([])
})
