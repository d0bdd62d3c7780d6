import { expect, onTestFinished, test } from 'vitest'
import { describeLocation, hostOf, serverUrls } from '../../db/location.ts'
import { findNewest } from '../../db/postgres/connection/primary.ts'
import { postgresDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { createRole, emptyDatabase, query, setReadOnly } from '../support/postgres/databases.ts'
import { startTestApi } from '../support/test-api.ts'

const rex = { name: 'Rex', categoryId: 7 }

test('of several servers, the service uses the one that accepts writes', async () => {
  const { rest } = await startTestApi({
    store: await postgresDatabase(await withOtherHost(await emptyDatabase())).open(),
  })
  expect((await rest.post('/v1/pets', rex)).status).toBe(201)
  expect((await rest.get('/readyz')).status).toBe(200)
})

test('with target_session_attrs=read-write, a session that becomes read-only serves no reads either, until it accepts writes', async () => {
  const url = await emptyDatabase()
  const { rest, log } = await startTestApi({ store: await postgresDatabase(await withOtherHost(url)).open() })
  expect((await rest.post('/v1/pets', rex)).status).toBe(201)
  await setReadOnly(url, true)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(503)
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  async function read(): Promise<string> {
    expect((await rest.get('/v1/pets')).status).toBe(503)
    return log.join('')
  }
  const states =
    /no server accepts writes \(\S+: connect ECONNREFUSED \S+, \S+: it is read-only\); start the primary, or/
  await expect.poll(read).toMatch(states)
  await setReadOnly(url, false)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(200)
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 201, body: { id: 2 } })
})

test.for([
  ['may read the timeline', 1, ''],
  ['may not read the timeline', 0, 'REVOKE EXECUTE ON FUNCTION pg_control_system FROM PUBLIC'],
] as const)('a user without special rights who %s finds the server', async ([, timeline, sql]) => {
  const database = await emptyDatabase()
  const { url } = await createRole(database)
  await query(database, sql)
  onTestFinished(async () => {
    await query(database, 'GRANT EXECUTE ON FUNCTION pg_control_system TO PUBLIC')
  })
  const { newest } = await findNewest(serverUrls(await withOtherHost(url)))
  await newest?.client.end()
  expect(newest?.timeline).toBe(timeline)
})

test('if no server accepts writes, the message says what is at each one', async () => {
  const hosts = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const url = `postgres://petstore:secret@${hosts}/petstore?target_session_attrs=primary`
  await expect(postgresDatabase(url).open()).rejects.toThrow(
    `The database ${describeLocation({ kind: 'postgres', url })} cannot be used: no server accepts writes (` +
      `${hosts[0]}: connect ECONNREFUSED ${hosts[0]}, ${hosts[1]}: connect ECONNREFUSED ${hosts[1]}` +
      '); start the primary, or promote a standby.',
  )
})

/** The URL with a second host, on which nothing listens, in the first place. */
async function withOtherHost(url: string): Promise<string> {
  const host = hostOf(url)
  return `${url.replace(host, `127.0.0.1:${await freePort()},${host}`)}?target_session_attrs=read-write`
}
