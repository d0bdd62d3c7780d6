import { describe, expect, test } from 'vitest'
import type { WithApiKeys } from '../../../store/keys.ts'
import { openTestStore, shareEmptiedStore, testDatabase } from '../../../test/notes/database.ts'
import {
  apiKeyRecord,
  createKey,
  isApiKey,
  mintApiKey,
  product,
  revokeKey,
  rotateKey,
  startOf,
  startTestApi,
} from '../../../test/notes/fixtures.ts'
import { describeKeys, listKeys, parseKeyName, parseLifetime } from '../../commands/keys.ts'

describe('an API key', () => {
  test('consists of note_, 32 random characters and a checksum of six characters', () => {
    const keys = Array.from({ length: 100 }, mintApiKey)
    for (const key of keys) {
      expect(key).toMatch(/^note_[0-9A-Za-z]{38}$/)
      expect(isApiKey(key)).toBe(true)
    }
    expect(new Set(keys).size).toBe(100)
  })

  test('ends with the CRC-32 of its random part in base62', () => {
    expect(isApiKey('note_NotebookNotebookNotebookNotebook49AWPI')).toBe(true)
  })

  test('is invalid when any one character is changed', () => {
    const key = mintApiKey()
    for (let i = 0; i < key.length; i++) {
      expect(isApiKey(key.slice(0, i) + (key[i] === 'A' ? 'B' : 'A') + key.slice(i + 1))).toBe(false)
    }
  })

  test('is stored only as its SHA-256 and its first characters', async () => {
    const database = await testDatabase()
    const store = await database.open()
    const key = await createKey(store, 'shop')
    const [stored] = await store.apiKeys.list()
    expect(stored).toMatchObject({
      name: 'shop',
      start: startOf(key),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const everything = JSON.stringify(await database.rows('api_keys'))
    expect(everything).toContain(startOf(key))
    expect(everything).not.toContain(key.slice(startOf(key).length))
  })
})

describe('changes of keys', () => {
  const emptied = shareEmptiedStore()

  test('a rotation replaces the key by one with the same name, id and access', async () => {
    const { rest, store } = await startTestApi()
    const [old] = await store.apiKeys.list()
    expect(old?.lastUsedAt).toBeInstanceOf(Date)
    const { key, record } = await rotateKey(store, 'test')
    expect((await rest.get('/v1/notes')).status).toBe(401)
    const { expiresAt: _, ...successor } = record
    const revoked = { ...old, id: 2n, revokedAt: record.createdAt }
    expect(await store.apiKeys.list()).toStrictEqual([{ id: 1n, ...successor }, revoked])
    expect((await rest.get('/v1/notes', { authorization: `Bearer ${key}` })).status).toBe(200)
  })

  test('a create that is repeated across a rotation adds nothing', async () => {
    const { rest, store } = await startTestApi()
    const newNote = { body: 'Ann', priority: 7 }
    const first = await rest.post('/v1/notes', newNote, { 'idempotency-key': 'a' })
    const { key } = await rotateKey(store, 'test')
    const headers = { 'idempotency-key': 'a', authorization: `Bearer ${key}` }
    const again = await rest.post('/v1/notes', newNote, headers)
    expect(again).toMatchObject({ status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } })
    expect(await store.notes.list({ limit: 9 })).toHaveLength(1)
  })

  test('a rotated key keeps the lifetime of its predecessor', async () => {
    const store = emptied().store
    await createKey(store, 'shop', 1_000_000)
    await rotateKey(store, 'shop')
    const successor = (await store.apiKeys.list()).find(({ revokedAt }) => !revokedAt)
    expect(Number(successor?.expiresAt) - Number(successor?.createdAt)).toBe(1_000_000)
  })

  test('a name cannot be used again until its key is revoked', async () => {
    const store = emptied().store
    await createKey(store, 'shop')
    await expect(createKey(store, 'shop')).rejects.toThrow('already has this name')
    await revokeKey(store, 'shop')
    await expect(createKey(store, 'shop')).resolves.toMatch(/^note_/)
  })

  test('a key is found by its first characters or by the whole key', async () => {
    const store = emptied().store
    const [first, second] = [await createKey(store, 'first'), await createKey(store, 'second')]
    expect((await revokeKey(store, first.slice(0, 8))).name).toBe('first')
    expect((await revokeKey(store, second)).name).toBe('second')
  })

  test('first characters that several keys share are refused', async () => {
    const store = emptied().store
    for (const letter of 'BC') await store.apiKeys.create(apiKeyRecord(`note_A${letter.repeat(37)}`, letter))
    await expect(revokeKey(store, 'note_A')).rejects.toThrow('Several API keys start with note_A: B and C.')
    await expect(revokeKey(store, 'note_')).rejects.toThrow('No active API key')
    expect((await revokeKey(store, 'note_AB')).name).toBe('B')
  })

  test('a revoked key is not found', async () => {
    const store = emptied().store
    const key = await createKey(store, 'shop')
    await revokeKey(store, 'shop')
    await expect(revokeKey(store, 'shop')).rejects.toThrow('No active API key is named "shop"')
    // A whole key must not appear in a log.
    await expect(revokeKey(store, key)).rejects.toThrow(`No active API key is named "${startOf(key)}" or`)
    await expect(rotateKey(store, 'shop')).rejects.toThrow('No active API key')
  })

  test.for([
    ['revokes', (store: WithApiKeys) => revokeKey(store, 'shop')],
    ['rotates', (store: WithApiKeys) => rotateKey(store, 'shop')],
  ] as const)('a key that another process %s between the lookup and the change is not changed', async ([, act]) => {
    const store = emptied().store
    await createKey(store, 'shop')
    const { list } = store.apiKeys
    const before = await list()
    await act(store)
    const after = await list()
    for (const change of [revokeKey, rotateKey]) {
      store.apiKeys.list = async () => before
      await expect(change(store, 'shop')).rejects.toThrow('The API key was revoked or rotated meanwhile.')
      store.apiKeys.list = list
      expect(await list()).toEqual(after)
    }
  })

  test('the list of keys is a table', async () => {
    const store = emptied().store
    const at = (time: string) => new Date(`2026-11-20T${time}Z`)
    const record = { ...apiKeyRecord(`note_${'A'.repeat(38)}`, 'shop'), createdAt: at('01:02:03.456') }
    await store.apiKeys.create({ ...record, expiresAt: at('04:05:06.789') })
    const other = { ...record, name: 'x', hash: '0'.repeat(64), start: 'note_BBBBBB', access: 'read' } as const
    await store.apiKeys.touch(await store.apiKeys.create(other), at('07:08:09.000'))
    expect(await describeKeys(await listKeys(store))).toBe(
      [
        'NAME  START         ACCESS  CREATED               EXPIRES               REVOKED  LAST USED',
        'shop  note_AAAAAA…  write   2026-11-20T01:02:03Z  2026-11-20T04:05:06Z  -        -',
        'x     note_BBBBBB…  read    2026-11-20T01:02:03Z  -                     -        2026-11-20T07:08:09Z',
      ].join('\n'),
    )
  })

  test('a name that is empty, starts like a key, or has control or too many characters is refused', () => {
    for (const name of ['', 'note_shop', 'a\nb', 'x'.repeat(65)])
      expect(() => parseKeyName(product, name)).toThrow('Name the key with')
  })

  test.for([
    ['12h', 12 * 3_600_000],
    ['90d', 90 * 86_400_000],
    ['4w', 28 * 86_400_000],
    ['86400s', 86_400_000],
  ] as const)('a lifetime of %s is accepted', ([text, milliseconds]) => {
    expect(parseLifetime(text)).toBe(milliseconds)
  })

  test.for(['', '90', '0d', '-1d', '1.5d', '90x', 'd', '9dd', 'x9d', '100000s'])(
    'a lifetime of %j is refused',
    (text) => {
      expect(() => parseLifetime(text)).toThrow('is not a lifetime')
    },
  )
})

test('the use of a key is recorded, at most once a minute', async () => {
  const { rest, store } = await startTestApi({ store: await openTestStore() })
  expect((await store.apiKeys.list()).map(({ lastUsedAt }) => lastUsedAt)).toEqual([undefined])
  await rest.get('/v1/notes')
  await rest.post('/v1/notes', { body: 'Ann', priority: 1 })
  const lastUse = async () => Number((await store.apiKeys.list())[0]?.lastUsedAt)
  // No request waits for the record of its use.
  await expect.poll(async () => Date.now() - (await lastUse())).toBeLessThan(60_000)
  const firstUse = await lastUse()
  await rest.get('/v1/notes')
  await rest.post('/v1/notes', { body: 'Ann', priority: 1 })
  expect(await lastUse()).toBe(firstUse)
})

test('a last use in the future, recorded by a wrong clock, is corrected by the next request', async () => {
  const { rest, store } = await startTestApi()
  for (const key of await store.apiKeys.list()) await store.apiKeys.touch(key, new Date('2099-01-01'))
  await rest.get('/v1/notes')
  await expect.poll(async () => (await store.apiKeys.list())[0]?.lastUsedAt?.getTime()).toBeLessThanOrEqual(Date.now())
})

test('a use that cannot be recorded is logged, is tried again only after a minute, and fails no request', async () => {
  const { rest, store, log } = await startTestApi({ store: await openTestStore() })
  let attempts = 0
  store.apiKeys.touch = async () => {
    attempts++
    throw new Error('The disk is full.')
  }
  for (let i = 0; i < 3; i++) expect((await rest.get('/v1/notes')).status).toBe(200)
  expect(attempts).toBe(1)
  const warnings = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([
    { msg: 'The use of an API key could not be recorded. The disk is full.', err: { message: 'The disk is full.' } },
  ])
})
