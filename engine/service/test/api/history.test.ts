import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { apiKeyRecord, mintApiKey, product, shareEmptiedTestApi, startTestApi } from '../../../test/notes/tests.ts'
import { query, router } from '../../../test/notes/trpc.ts'
import { Int64 } from '../../api/int64.ts'
import { proceduresOf } from '../../procedures/procedures.ts'
import { createDocument } from '../../rest/document.ts'

const dueAt = new Date('2026-12-24T18:00:00.000Z')
const priority = 2n ** 63n - 1n

describe('the history over RPC', () => {
  const api = shareEmptiedTestApi({ keyName: 'test' })

  test('says what was changed, when and with which key, newest first', async () => {
    const { rpc } = api()
    const { id } = await rpc.notes.create.mutate({ body: 'Ann', priority: 7n, dueAt })
    await rpc.notes.update.mutate({ noteId: id, priority, dueAt: null })
    await rpc.notes.remove.mutate({ noteId: id })
    const [removal, update, ...others] = await rpc.notes.history.query({ noteId: id })
    expect(others).toEqual([])
    expect(update).toStrictEqual({
      id: expect.any(BigInt),
      at: expect.any(Date),
      keyName: 'test',
      noteId: id,
      kind: 'update',
      before: { priority: 7n, dueAt },
      after: { priority },
    })
    expect(removal).toMatchObject({
      noteId: id,
      kind: 'remove',
      keyName: 'test',
      before: { body: 'Ann', priority, state: 'open' },
    })
    expect(removal).not.toHaveProperty('after')
    await expect(rpc.notes.get.query({ noteId: id })).rejects.toThrow('No note has the id')
  })

  test('comes in pages, of all notes or of one', async () => {
    const { rpc } = api()
    const notes = await Promise.all(['a', 'b'].map((body) => rpc.notes.create.mutate({ body, priority: 0n })))
    for (let priority = 1n; priority <= 3n; priority++)
      for (const { id: noteId } of notes) await rpc.notes.update.mutate({ noteId, priority })
    const first = await rpc.notes.history.query({ limit: 4 })
    const second = await rpc.notes.history.query({ limit: 4, cursor: first[3]?.id })
    expect([...first, ...second].map(({ after }) => after?.priority)).toEqual([3n, 3n, 2n, 2n, 1n, 1n])
    const own = await rpc.notes.history.query({ noteId: notes[0]?.id })
    expect(own.map(({ noteId }) => noteId)).toEqual(Array(3).fill(notes[0]?.id))
    await expect(rpc.notes.history.query({ limit: 101 })).rejects.toThrow('limit')
  })
})

test.for(['direct', 'chained'])('a %s query with `access: write` refuses a key that may only read', async (name) => {
  const routes = router({
    direct: query({ access: 'write' }).query(() => 'names'),
    chained: query()
      .use(({ next }) => next())
      .meta({ access: 'write' })
      .query(() => 'names'),
  })
  expect(proceduresOf(routes).find((each) => each.name === name)?.isDirect).toBe(name === 'direct')
  const { app, store, key } = await startTestApi({ router: routes })
  const viewer = mintApiKey()
  await store.apiKeys.create(apiKeyRecord(viewer, 'viewer', undefined, 'read'))
  const statusOf = async (key: string) =>
    (await app.inject({ url: `/trpc/${name}`, headers: { authorization: `Bearer ${key}` } })).statusCode
  expect([await statusOf(viewer), await statusOf(key)]).toEqual([403, 200])
})

test('the document of a query with `access: write` has the status 403, and a link only if it returns a list', () => {
  const pages = z.object({ cursor: Int64.optional(), limit: z.int().default(20) })
  const queryOf = (path: `/${string}`, output: z.ZodType) =>
    query({ access: 'write', openapi: { method: 'GET', path } })
      .input(pages)
      .output(output)
      .query(() => [])
  const routes = router({ list: queryOf('/list', z.array(z.string())), found: queryOf('/found', z.object({})) })
  const { paths } = createDocument(routes, product, [])
  const responses = [paths?.['/list'], paths?.['/found']].map((path) => path?.get?.responses)
  expect(responses).toMatchObject([{ 403: { description: 'The API key may only read.' } }, { 403: {} }])
  expect(responses.map((each) => /"Link"/.test(JSON.stringify(each)))).toEqual([true, false])
})
