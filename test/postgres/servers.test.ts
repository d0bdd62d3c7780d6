import { expect, onTestFinished, test } from 'vitest'
import { describeLocation, hostOf } from '../../db/location.ts'
import { connectPrimary } from '../../db/postgres/connection/primary.ts'
import { postgresDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { emptyDatabase, query, setReadOnly } from '../support/postgres/databases.ts'
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
  await expect.poll(async () => (await rest.get('/v1/pets')).status).toBe(503)
  expect(log.join('')).toMatch(
    /no server accepts writes \(.*: it is read-only.*\); start the primary, or promote a standby/,
  )
  await setReadOnly(url, false)
  await expect.poll(async () => (await rest.get('/readyz')).status).toBe(200)
  expect(await rest.post('/v1/pets', rex)).toMatchObject({ status: 201, body: { id: 2 } })
})

test.for([
  ['may read the timeline', ''],
  ['may not read the timeline', 'REVOKE EXECUTE ON FUNCTION pg_control_system FROM PUBLIC'],
])('a user without special rights who %s finds the server', async ([, sql = '']) => {
  const url = await emptyDatabase()
  const role = `user_${new URL(url).pathname.slice(1)}`
  await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'petstore'; ${sql}`)
  onTestFinished(async () => {
    await query(url, `DROP ROLE ${role}; GRANT EXECUTE ON FUNCTION pg_control_system TO PUBLIC`)
  })
  const several = await withOtherHost(Object.assign(new URL(url), { username: role }).href)
  const client = await connectPrimary(several)
  await client.end()
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
