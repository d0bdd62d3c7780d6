import { expect, test } from 'vitest'
import { keyRecord, note, notesDatabase } from '../../../test/notes/database.ts'

test.for(['INSERT', 'UPDATE', 'DELETE'])('a trigger that fails after the %s undoes it', async (event) => {
  const database = await notesDatabase()
  const { notes } = await database.open()
  await notes.create({ ...note })
  await database.execute(`CREATE TRIGGER own AFTER ${event} ON notes BEGIN SELECT RAISE(FAIL, 'no'); END`)
  const settled = await Promise.allSettled([
    notes.create({ ...note, body: 'new' }),
    notes.update({ id: 1n, set: { body: 'changed' } }),
    notes.remove({ id: 1n }),
  ])
  const rejected = ['INSERT', 'UPDATE', 'DELETE'].map((each) => (each === event ? 'rejected' : 'fulfilled'))
  expect(settled.map(({ status }) => status)).toEqual(rejected)
  const bodies = (await notes.list({ limit: 9 })).map(({ body }) => body)
  const first = event === 'UPDATE' ? note.body : 'changed'
  expect(bodies).toEqual([...(event === 'DELETE' ? [first] : []), ...(event === 'INSERT' ? [] : ['new'])])
})

test.for(['UPDATE', 'DELETE'])('a trigger that ignores the %s makes the call fail', async (event) => {
  const database = await notesDatabase()
  const { notes } = await database.open()
  const first = await notes.create({ ...note })
  await database.execute(`CREATE TRIGGER own BEFORE ${event} ON notes BEGIN SELECT RAISE(IGNORE); END`)
  const change = event === 'UPDATE' ? notes.update({ id: 1n, set: { body: 'new' } }) : notes.remove({ id: 1n })
  const message = 'A trigger of another program has ignored a change.'
  await expect(change).rejects.toMatchObject({ message, subject: 'notes' })
  expect(await notes.list({ limit: 9 })).toEqual([first])
})

test('a rotation that cannot keep the old key says why, and a start does not register that key again', async () => {
  const database = await notesDatabase()
  const { apiKeys } = await database.open()
  const [first, second] = [keyRecord('environment'), keyRecord('environment')]
  const old = await apiKeys.create(first)
  await database.execute("CREATE TRIGGER own BEFORE INSERT ON api_keys BEGIN SELECT RAISE(ABORT, 'no room'); END")
  const reasons: string[] = []
  const onLost = (error: Error) => void reasons.push(error.message)
  expect(await apiKeys.rotate(old, second, onLost)).toBe(true)
  expect(reasons).toEqual([expect.stringContaining('no room')])
  await database.execute('DROP TRIGGER own')
  expect(await apiKeys.register(first)).toBe(false)
  expect(await apiKeys.list()).toMatchObject([{ hash: second.hash }])
})
