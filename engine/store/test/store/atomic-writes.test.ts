import { expect, test } from 'vitest'
import { note, notesDatabase } from '../../../test/notes/open.ts'

test.for([undefined, 'a key'])('a write of several statements that is refused stores nothing, with %s', async (key) => {
  const store = await (await notesDatabase()).open()
  const settled = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => [
      store.notes.copy({ body: 'copy' }, key === undefined ? undefined : { owner: 1n, key: `${key} ${index}` }),
      store.notes.create({ ...note, body: `${index}` }),
    ]).flat(),
  )
  const refused = settled.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(7)
  for (const each of refused) expect(each).toMatchObject({ reason: { name: 'TooManyCopies', subject: 'notes' } })
  const bodies = (await store.notes.list({ limit: 100 })).map(({ body }) => body)
  expect(bodies.filter((body) => body === 'copy')).toHaveLength(3)
  expect(bodies).toHaveLength(13)
})
