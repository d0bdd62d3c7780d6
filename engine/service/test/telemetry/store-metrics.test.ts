import { mkdirSync, statfsSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { backUpDatabase, streamBackup } from '../../../store/sqlite/backup/backup.ts'
import { measureBackups } from '../../../store/sqlite/backup/inventory.ts'
import { connect } from '../../../store/sqlite/file/connection.ts'
import { openSqlite } from '../../../test/notes/database.ts'
import { apiKeyRecord, mintApiKey, product } from '../../../test/notes/fixtures.ts'
import { definition, type NotesStore } from '../../../test/notes/store.ts'
import type { NewNote } from '../../../test/notes/tables.ts'
import { readMetric, writeFailuresIn } from '../../../test/support/metrics.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { createMetrics } from '../../telemetry/metrics.ts'

const newNote: NewNote = { body: 'Ann', priority: 7n, state: 'done' }

test('each transaction is measured, with its writes and its COMMIT', async () => {
  const { metrics, store } = openObserved()
  await store.notes.create(newNote)
  const begin = performance.now()
  await Promise.all(Array.from({ length: 50 }, () => store.notes.create(newNote)))
  const elapsed = (performance.now() - begin) / 1_000
  const text = await metrics.text()
  const read = (name: string) => readMetric(text, `notes_${name}`) ?? Number.NaN
  expect(read('transaction_writes_sum')).toBe(51)
  expect(read('transaction_writes_count')).toBeLessThan(51)
  for (const kind of ['transaction', 'commit']) {
    expect(read(`${kind}_duration_seconds_count`)).toBe(read('transaction_writes_count'))
    expect(read(`${kind}_duration_seconds_sum`)).toBeGreaterThan(0)
  }
  expect(read('commit_duration_seconds_sum')).toBeLessThan(read('transaction_duration_seconds_sum'))
  expect(read('transaction_duration_seconds_sum')).toBeLessThan(elapsed + 1)
  expect(read('write_queue_length')).toBe(0)
})

test('waiting writes are counted while another process holds the lock, and those that fail by reason', async () => {
  const { metrics, store, path } = openObserved({ busyTimeout: 500 })
  const other = connect(path, { busyTimeout: 0 })
  onTestFinished(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  const creates = Promise.allSettled([store.notes.create(newNote), store.notes.create(newNote)])
  expect(readMetric(await metrics.text(), 'notes_write_queue_length')).toBe(2)
  await creates
  other.exec('ROLLBACK')
  const { id: owner } = await store.apiKeys.create(apiKeyRecord(mintApiKey(), 'test'))
  await store.notes.create(newNote, { owner, key: 'a' })
  const committed = async () => readMetric(await metrics.text(), 'notes_transaction_writes_sum')
  const before = await committed()
  await expect(store.notes.create({ ...newNote, body: 'Tom' }, { owner, key: 'a' })).rejects.toThrow()
  expect(await committed()).toBe(before)
  const text = await metrics.text()
  expect(readMetric(text, 'notes_write_queue_length')).toBe(0)
  expect(writeFailuresIn(text)).toEqual({ busy: 2, rule: 1 })
})

test('a readiness check that finds the schema of another release is counted', async () => {
  const { metrics, store, path } = openObserved()
  const other = connect(path, { busyTimeout: 500 })
  onTestFinished(() => void other.close())
  other.exec("UPDATE migrations SET hash = 'other'")
  await expect(store.check()).rejects.toThrow('Another release')
  expect(writeFailuresIn(await metrics.text())).toEqual({ schema: 1 })
})

test('writes that a closed store refuses are counted', async () => {
  const { metrics, store } = openObserved()
  await store.close()
  await expect(store.notes.create(newNote)).rejects.toThrow('closed')
  expect(writeFailuresIn(await metrics.text())).toEqual({ other: 1 })
})

test('the sizes are those of the files', async () => {
  const { metrics, store, path } = openObserved()
  await store.notes.create(newNote)
  const before = await metrics.text()
  expect(readMetric(before, 'notes_database_bytes')).toBe(statSync(path).size)
  expect(readMetric(before, 'notes_wal_bytes')).toBe(statSync(`${path}-wal`).size)
  const { blocks, bsize } = statfsSync(path)
  expect(readMetric(before, 'notes_disk_bytes')).toBe(blocks * bsize)
  expect(readMetric(before, 'notes_disk_free_bytes')).toBeLessThan(blocks * bsize)
  expect(readMetric(before, 'notes_backup_bytes')).toBe(0)
  expect(readMetric(before, 'notes_backup_last_success_timestamp_seconds')).toBeUndefined()

  const backups = join(path, '../backups')
  mkdirSync(backups)
  const add = (name: string, size: number) => writeFileSync(join(backups, name), Buffer.alloc(size))
  add('notes.db-2026-01-02T030405.678Z.db', 10)
  add('notes.db-2026-01-03T030405.678Z.scheduled.db', 20)
  // A wrong clock made the first, and the others are no complete backups of this database.
  add('notes.db-2099-01-01T000000.000Z.db', 40)
  add('.notes-0123456789abcdef.partial', 80)
  add('shop.db-2026-01-04T030405.678Z.db', 160)
  add('notes.db-2026-01-05T030405.678Z.scheduled.db.sha256', 320)
  const after = await metrics.text()
  expect(readMetric(after, 'notes_backup_bytes')).toBe(70)
  const seconds = Date.parse('2026-01-03T03:04:05.678Z') / 1_000
  expect(readMetric(after, 'notes_backup_last_success_timestamp_seconds')).toBe(seconds)
})

test('a backup of this millisecond counts', async () => {
  const { path } = openObserved()
  const now = Date.UTC(2026, 0, 2)
  writeFileSync(`${path}.backed-up`, '')
  utimesSync(`${path}.backed-up`, now / 1_000 + 0.0009, now / 1_000 + 0.0009)
  vi.useFakeTimers({ toFake: ['Date'], now })
  onTestFinished(() => void vi.useRealTimers())
  expect((await measureBackups(path)).newestAt).toEqual(new Date(now))
})

test('backups in another folder, with another name, and to a stream count as the newest one', async () => {
  const { metrics, store, path } = openObserved()
  await store.notes.create(newNote)
  const newest = async () => readMetric(await metrics.text(), 'notes_backup_last_success_timestamp_seconds') ?? 0
  expect(await newest()).toBe(0)
  const release = definition.sqliteRelease()
  const backups = join(path, '../backups')
  mkdirSync(backups)
  for (const backUp of [
    () => backUpDatabase(path, release, join(temporaryFolder(), 'copy.db')),
    () => backUpDatabase(path, release, join(backups, 'by hand.db')),
    () => streamBackup(path, release, async () => {}),
  ]) {
    const before = await newest()
    await backUp()
    expect(await newest()).toBeGreaterThan(before)
  }
})

test('a folder of backups that cannot be read hides no other size', async () => {
  const { metrics, store, path } = openObserved()
  await store.notes.create(newNote)
  writeFileSync(join(path, '../backups'), '')
  const text = await metrics.text()
  expect(readMetric(text, 'notes_wal_bytes')).toBe(statSync(`${path}-wal`).size)
  expect(readMetric(text, 'notes_backup_bytes')).toBeUndefined()
})

test('a disk that does not respond delays the metrics by a second, and leaves out the sizes', async () => {
  const metrics = createMetrics(product)
  let measurements = 0
  const sizes = () => {
    measurements++
    return new Promise<never>(() => {})
  }
  metrics.store.watch({ load: () => ({ queuedWrites: 3 }), sizes })
  const begin = performance.now()
  const [text] = await Promise.all([metrics.text(), metrics.text()])
  expect(performance.now() - begin).toBeLessThan(20_000)
  expect(readMetric(text, 'notes_write_queue_length')).toBe(3)
  expect(readMetric(text, 'notes_database_bytes')).toBeUndefined()
  expect(measurements).toBe(1)
})

function openObserved({ busyTimeout = 250 } = {}) {
  const path = join(temporaryFolder(), 'notes.db')
  const metrics = createMetrics(product)
  const store: NotesStore = openSqlite({ path, busyTimeout, observer: metrics.store.observer })
  onTestFinished(() => store.close())
  metrics.store.watch(store)
  return { metrics, store, path }
}
