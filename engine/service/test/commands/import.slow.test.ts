import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../store/collection/errors.ts'
import { bookTransfer } from '../../../test/notes/books.ts'
import { openTestStore } from '../../../test/notes/database.ts'
import { createKey, importText, ndjsonOf } from '../../../test/notes/fixtures.ts'
import type { NotesStore } from '../../../test/notes/store.ts'
import type { Note } from '../../../test/notes/tables.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { exportedText, importItemsOf } from '../../../test/support/transfer.ts'
import { minInt64 } from '../../api/int64.ts'
import { describeKeys, listKeys } from '../../commands/keys.ts'

describe.for(['ndjson', 'csv'] as const)('an export as %s', (format) => {
  test('has every kind of value, but an import does not keep what the service generates', async () => {
    const [source, target] = [await openTestStore(), await openTestStore()]
    const books = [
      { title: 'null', isLent: false, pages: minInt64, shelf: 'null', author: ' a,"b" ' },
      { title: 'ü', isLent: true },
    ]
    for (const book of books) await source.books.create(book)
    const text = await exportedText(bookTransfer, source.books, { format })
    const [first] = await source.books.list({ limit: 1 })
    expect(text).toContain(first?.addedAt.toISOString())
    expect(await importItemsOf(bookTransfer, target.books, text, { format })).toEqual({ created: 2, existing: 0 })
    const imported = (await target.books.list({ limit: 9 })).map(({ addedAt: _, ...given }) => given)
    expect(imported).toStrictEqual(books.map((book, index) => ({ id: BigInt(index + 1), ...book })))
    const ofShelf = await exportedText(bookTransfer, source.books, { format, filters: { shelf: 'null' } })
    expect(ofShelf.trimEnd().split('\n')).toHaveLength(format === 'csv' ? 2 : 1)
  })
})

describe('an import', () => {
  test('creates nothing when it is repeated, unless the path of the file or the key is another one', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'notes')]
    const text = ndjsonOf(3)
    expect(await importText(store, text, { file })).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { file })).toEqual({ created: 0, existing: 3 })
    expect(await importText(store, text)).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { key: 'a' })).toEqual({ created: 3, existing: 0 })
    expect(await importText(store, text, { key: 'a' })).toEqual({ created: 0, existing: 3 })
    expect(await importText(store, text, { key: file })).toEqual({ created: 3, existing: 0 })
  })

  test('creates each note once when it is repeated with lines that were corrected, added, removed or moved', async () => {
    const lines = ['Ann', 'Ann', 'Bea', '', 'Ann', 'Bea', 'Bella'].map((name) => `{"body":"${name}","priority":1}`)
    const corrected = lines.with(3, '{"body":"Ann","priority":1}')
    const removed = lines.toSpliced(3, 1)
    const added = corrected.toSpliced(1, 0, '{"body":"Ada","priority":1}')
    for (const onInvalid of [undefined, () => {}]) {
      for (const repeated of [corrected, removed, added, corrected.toReversed()]) {
        const [store, file] = [await openTestStore(), join(temporaryFolder(), 'notes')]
        const first = importText(store, lines.join('\n'), { file, ...(onInvalid && { onInvalid }) })
        if (onInvalid) expect(await first).toEqual({ created: 6, existing: 0 })
        else await expect(first).rejects.toThrow(/^Line 4 of .* 3 notes created, 0 already imported\./)
        const existing = onInvalid ? 6 : 3
        expect(await importText(store, repeated.join('\n'), { file })).toEqual({
          created: repeated.length - existing,
          existing,
        })
        const names = (await allNotes(store)).map(({ body }) => body)
        expect(names.toSorted()).toEqual(repeated.map((line) => JSON.parse(line).body).toSorted())
      }
    }
  })

  test('says what it has created when the rest of the file cannot be read', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'notes')]
    const start = ndjsonOf(2_000)
    const broken = Buffer.concat([Buffer.from(start), Buffer.from('"Fran\xe7ois"', 'latin1')])
    const message = await importText(store, broken, { file }).catch((error: Error) => error.message)
    expect(message).toMatch(
      /^Line 2001 of .* is not UTF-8 text\. Save it as “CSV UTF-8”\. \d+ notes created, 0 already imported\. Run /,
    )
    const { created, existing } = await importText(store, start, { file })
    expect(message).toContain(` ${existing} notes created`)
    expect([created + existing, (await allNotes(store)).length]).toEqual([2_000, 2_000])
  })

  test('stops at a line that repeats a unique value, or skips it, and imports the others', async () => {
    const { books } = await openTestStore()
    const text = `title,isLent\n${['a', 'b', 'a', 'c'].map((title) => `${title},true\n`).join('')}`
    const options = { format: 'csv', file: join(temporaryFolder(), 'books.csv') } as const
    await expect(importItemsOf(bookTransfer, books, text, options)).rejects.toThrow(
      `Line 4 of ${options.file} cannot be stored: Another one has the same title. Correct it, or skip invalid lines with --skip-invalid. 3 books created, 0 already imported. Run the command again`,
    )
    const skipped: string[] = []
    const onInvalid = (line: string) => void skipped.push(line)
    const result = await importItemsOf(bookTransfer, books, text, { ...options, onInvalid })
    expect(result).toEqual({ created: 0, existing: 3 })
    expect(skipped).toEqual(['line 4: Another one has the same title.'])
  })

  test('assigns ids in the order of the lines', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(700))
    const notes = await allNotes(store)
    expect(notes.map(({ body }) => body)).toEqual(notes.map(({ id }) => `note ${id}`))
    expect(notes).toHaveLength(700)
  })

  test('is completed by running it again after the database has failed', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'notes')]
    const { create } = store.notes
    let calls = 0
    store.notes.create = async (note, idempotency) => {
      const result = await create(note, idempotency)
      // The note is stored, but the import does not learn of it.
      if (++calls === 700) throw new StoreUnavailable('The disk does not respond.')
      return result
    }
    await expect(importText(store, ndjsonOf(1_100), { file })).rejects.toThrow(
      'The disk does not respond. 999 notes created, 0 already imported. Run the command again within 24 hours',
    )
    const { created, existing } = await importText(store, ndjsonOf(1_100), { file })
    expect([created, existing]).toEqual([100, 1_000])
    expect(new Set((await allNotes(store)).map(({ body }) => body)).size).toBe(1_100)
    expect(await allNotes(store)).toHaveLength(1_100)
  })

  test('that two processes run at the same time creates each note once', async () => {
    const [store, file] = [await openTestStore(), join(temporaryFolder(), 'notes')]
    const results = await Promise.all([1, 2].map(() => importText(store, ndjsonOf(600), { file })))
    expect(results.reduce((sum, { created }) => sum + created, 0)).toBe(600)
    expect(await allNotes(store)).toHaveLength(600)
  })

  test('adds no API key, so that the first key can be created', async () => {
    const store = await openTestStore()
    await importText(store, ndjsonOf(1))
    expect(await store.apiKeys.list()).toEqual([])
    const first = {
      name: 'first',
      start: 'note_',
      hash: 'a'.repeat(64),
      createdAt: new Date(),
      access: 'write' as const,
    }
    expect(await store.apiKeys.createFirst(first)).toBe(true)
    expect(await store.apiKeys.createFirst({ ...first, hash: 'b'.repeat(64) })).toBe(false)
    await createKey(store, 'notes import')
    await importText(store, ndjsonOf(2))
    expect((await describeKeys(await listKeys(store))).split('\n')).toHaveLength(3)
  })
})

async function allNotes({ notes }: NotesStore): Promise<Note[]> {
  return notes.list({ limit: 100_000, cursor: 0n })
}
