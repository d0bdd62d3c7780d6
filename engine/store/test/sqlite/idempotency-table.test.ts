import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openFileStore, prepareWrites } from '../../../test/notes/tests.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { connect } from '../../sqlite/file/connection.ts'
import { prepareCommit } from '../../sqlite/writer/committer.ts'
import { idempotentWrite, type Write } from '../../sqlite/writer/writes.ts'

describe('the table of idempotency keys', () => {
  const day = 24 * 3_600_000
  const start = new Date('2026-01-01T00:00:00Z')

  test('remembers a key for 24 hours', () => {
    const { run } = openWrites()
    run('a', start)
    expect(run('a', new Date(start.getTime() + day - 1))).toMatchObject({
      value: { generated: { id: 1n }, isReplay: true },
    })
    expect(run('a', new Date(start.getTime() + day))).toMatchObject({
      value: { generated: { id: 2n }, isReplay: false },
    })
    expect(run('a', new Date(start.getTime() + day))).toMatchObject({
      value: { generated: { id: 2n }, isReplay: true },
    })
  })

  test('loses expired keys as new keys are inserted', () => {
    const { run, count } = openWrites()
    for (let i = 0; i < 100; i++) run(`old ${i}`, start)
    const later = new Date(start.getTime() + day)
    for (let i = 0; i < 100; i++) run(`new ${i}`, later)
    expect(count()).toBe(100n)
    run('new 0', later)
    expect(count()).toBe(100n)
  })

  test('takes an expired key again whose row is still there', () => {
    const { run } = openWrites()
    for (let i = 0; i < 10; i++) run(`old ${i}`, start)
    const later = new Date(start.getTime() + day)
    // Before the insert, the sweep deletes the first rows only.
    expect(run('old 9', later)).toMatchObject({ value: { generated: { id: 11n }, isReplay: false } })
    expect(run('old 9', later)).toMatchObject({ value: { generated: { id: 11n }, isReplay: true } })
  })

  test('keeps rows from the future until they expire, and loses expired rows behind them', () => {
    const { run, count } = openWrites()
    const time = (days: number) => new Date(start.getTime() + days * day)
    for (let i = 0; i < 30; i++) run(`future ${i}`, time(10))
    for (let i = 0; i < 30; i++) run(`old ${i}`, start)
    for (let i = 0; i < 60; i++) run(`new ${i}`, time(1))
    expect(count()).toBe(90n)
    expect(run('future 0', time(1))).toMatchObject({ value: { isReplay: true } })
    for (let i = 0; i < 100; i++) run(`last ${i}`, time(11))
    expect(count()).toBe(100n)
  })

  test('gets a row only together with the note, and the note is stored only together with the row', () => {
    const { connection, commitTogether, count } = openWrites()
    connection.exec("CREATE TRIGGER refuse BEFORE INSERT ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'no'); END")
    const { outcomes } = commitTogether([createWithKey('a', start), createWithKey('b', start)])
    expect(outcomes).toMatchObject(Array(2).fill({ failure: { code: 'SQLITE_CONSTRAINT_TRIGGER' } }))
    expect(count()).toBe(0n)
    expect(connection.prepare('SELECT count(*) FROM notes').pluck().get()).toBe(0n)
  })

  function openWrites() {
    const path = join(temporaryFolder(), 'notes.db')
    openFileStore(path)
    const connection = connect(path, { busyTimeout: 0 })
    onTestFinished(() => void connection.close())
    const commitTogether = prepareCommit(connection, prepareWrites(connection))
    const count = connection.prepare('SELECT count(*) FROM idempotency_keys').pluck()
    return {
      connection,
      commitTogether,
      run: (key: string, now: Date) => commitTogether([createWithKey(key, now)]).outcomes[0],
      count: () => count.get(),
    }
  }

  function createWithKey(key: string, now: Date): Write {
    return [idempotentWrite, 'notes.create', 1n, key, now, 'Ann', 7n, 'open', null, null]
  }
})
