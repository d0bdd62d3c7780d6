import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { samplesIn, typesIn } from '../../engine/test/support/metrics.ts'
import { waitForOutput } from '../../engine/test/support/process.ts'
import { share } from '../../engine/test/support/share.ts'
import { type AtEnd, temporaryFolder } from '../../engine/test/support/temporary.ts'
import { hasPrometheus, matches, metricsTable, queries, selectorsIn } from '../support/monitoring.ts'
import { bannerKey, startServer } from '../support/petstore.ts'

/** Series that only a service on PostgreSQL has: engine/service/test/postgres/metrics.test.ts. */
const isOfPostgres = (name: string) => name.startsWith('petstore_postgres_')

describe('a scrape of a running service', () => {
  const text = share(scrapeUsedService)

  test('has every metric of the table, with its type, and no other', () => {
    const types = Object.entries(typesIn(text())).filter(([name]) => name.startsWith('petstore_'))
    expect(metricsTable.length).toBeGreaterThan(20)
    expect(Object.fromEntries(metricsTable.map(({ name, type }) => [name, type]))).toEqual(Object.fromEntries(types))
  })

  test('has the labels of the table, and no others', () => {
    const samples = samplesIn(text())
    for (const { name, labels } of metricsTable.filter(({ name }) => !isOfPostgres(name))) {
      const own = samples.filter((sample) => [name, `${name}_bucket`].includes(sample.name))
      expect(own, name).not.toEqual([])
      const found = new Set(own.flatMap((sample) => Object.keys(sample.labels)).filter((label) => label !== 'le'))
      expect([...found].sort(), name).toEqual(labels)
    }
  })

  if (hasPrometheus) {
    test('passes the linter of promtool', () => {
      const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text(), encoding: 'utf8' })
      expect(stderr.split('\n').filter((line) => !line.startsWith('nodejs_'))).toEqual([''])
    })
  }

  test('has every series that the dashboard and the alerts select', () => {
    const samples = samplesIn(text())
    const selected = queries().flatMap(({ source, expr }) =>
      selectorsIn(expr).map((selector) => ({ source, selector })),
    )
    expect(selected.length).toBeGreaterThan(50)
    const missing = selected.filter(
      ({ selector }) => !isOfPostgres(selector.name) && !samples.some((sample) => matches(selector, sample)),
    )
    expect(missing).toEqual([])
  })
})

/** Uses every part of a service on SQLite, and returns its metrics. */
async function scrapeUsedService(atEnd: AtEnd): Promise<string> {
  const folder = temporaryFolder(atEnd)
  const server = await startServer({ folder, env: { ADMIN_PORT: '0', BACKUP_EVERY: '1d' }, atEnd })
  const key = await waitForOutput(server, bannerKey)
  const admin = await waitForOutput(server, /metrics and health at (http:[^"\s]+)/)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (const name of ['Rex', 'Tom']) {
    const body = JSON.stringify({ name, categoryId: 7 })
    await fetch(`${server.url}/v1/pets`, { method: 'POST', headers: { ...headers, 'idempotency-key': 'a' }, body })
  }
  await fetch(`${server.url}/trpc/pets.list`, { headers })
  await fetch(`${server.url}/v1/pets`)
  // Another process holds the lock for longer than the service waits, so a create fails.
  const other = new Database(join(folder, 'data/petstore.db'))
  atEnd(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  await fetch(`${server.url}/v1/pets`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'Rex', categoryId: 7 }),
  })
  other.exec('ROLLBACK')
  await waitForOutput(server, /(database\.backup)/)
  return (await fetch(`${admin}/metrics`)).text()
}
