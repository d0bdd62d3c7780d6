import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPetstoreClient } from '../../client/index.ts'
import { runCommand, stopService } from '../../engine/test/support/process.ts'
import { change } from '../../engine/test/support/sample-database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { codeBlocksOf, document } from '../support/documents.ts'
import { createFirstKey, startServer } from '../support/petstore.ts'

/** A service with the pet 7, Rex, which was sold and removed. */
async function startAndChange(env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const database = join(folder, 'data/petstore.db')
  const apiKey = await createFirstKey(folder)
  change(database, "INSERT INTO pets (id, name, category_id, status) VALUES (7, 'Rex', 1, 'available')")
  const start = async () => {
    const server = await startServer({ folder, env })
    const { pets } = createPetstoreClient({ url: server.url, apiKey })
    return { pets, stop: () => stopService(server) }
  }
  const service = await start()
  await service.pets.update.mutate({ petId: 7n, status: 'sold' })
  await service.pets.remove.mutate({ petId: 7n })
  return { folder, database, start, ...service }
}

function addOld(database: string, days: number[]): void {
  const rows = days.map((age) => `(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-${age} days'), 'pets', ${age}, '{}')`)
  change(database, `INSERT INTO history (at, collection, row_id, before) VALUES ${rows}`)
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
  const update = '|test|pets|7|{"status":"available"}|{"status":"sold"}\n'
  const removal = '|test|pets|7|{"name":"Rex","categoryId":1,"status":"sold"}|\n'
  const [ofPet = '', removed = ''] = outputs.map((output) => output.replaceAll(/^\d+\|\d{4}-[^|]+Z/gm, ''))
  expect(ofPet).toBe(update + removal)
  expect(removed).toBe(removal)
})

describe('HISTORY_DAYS', () => {
  test('sets how long the history is kept', async () => {
    const { database, start, pets, stop } = await startAndChange({ HISTORY_DAYS: '10' })
    addOld(database, [9, 11, 12, 13])
    const { id: petId } = await pets.create.mutate({ name: 'Tom', categoryId: 1n })
    const ids = async (from = pets) => (await from.history.query()).map(({ petId }) => petId)
    expect(await ids()).toEqual([13n, 12n, 11n, 9n, 7n, 7n])
    await pets.update.mutate({ petId, status: 'sold' })
    expect(await ids()).toEqual([petId, 11n, 9n, 7n, 7n])
    await stop()
    const restarted = await start()
    expect(await ids(restarted.pets)).toEqual([petId, 9n, 7n, 7n])
  })

  test('of 0 keeps none', async () => {
    const { database, start, pets, stop } = await startAndChange({ HISTORY_DAYS: '0' })
    expect(await pets.history.query()).toEqual([])
    addOld(database, [1, 2, 3])
    await stop()
    const restarted = await start()
    expect(await restarted.pets.history.query()).toEqual([])
  })
})
