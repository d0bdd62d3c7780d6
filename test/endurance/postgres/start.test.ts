import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connectTo, emptyDatabase, endSessions, setReadOnly } from '../../../engine/test/support/postgres/databases.ts'
import { connectRestClient } from '../../../engine/test/support/rest-client.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { mintApiKey, runProgram, startServer } from '../../support/petstore.ts'

test('an instance survives the loss of its connections right after it has started to listen', async () => {
  const [url, key] = [await emptyDatabase(), mintApiKey()]
  const other = await connectTo(url)
  // The lock under which an instance creates the first key.
  await other.query('SELECT pg_advisory_lock(1346720851, 3)')
  const server = await startServer({ env: { DATABASE_URL: url, PETSTORE_API_KEY: key } })
  await wait(300)
  await endSessions(url)
  await other.query('SELECT pg_advisory_unlock_all()')
  await Promise.race([server.ended, wait(500)])
  expect(server).toMatchObject({ stderr: '', child: { exitCode: null } })
  expect(await connectRestClient(server.url, key).get('/v1/pets')).toMatchObject({ status: 200 })
})

test('on a read-only database an instance with a known key serves reads, and one with an unknown key does not start', async () => {
  const [url, folder] = [await emptyDatabase(), temporaryFolder()]
  const [oldKey, newKey] = [mintApiKey(), mintApiKey()]
  const environment = (key: string) => ({ folder, env: { DATABASE_URL: url, PETSTORE_API_KEY: key } })
  const first = await startServer(environment(oldKey))
  first.child.kill('SIGINT')
  await first.ended
  await setReadOnly(url, true)

  const known = await startServer(environment(oldKey))
  expect(await connectRestClient(known.url, oldKey).get('/v1/pets')).toMatchObject({ status: 200 })
  expect(await connectRestClient(known.url, oldKey).post('/v1/pets', rex)).toMatchObject({ status: 503 })

  const unknown = runProgram(environment(newKey))
  expect([await unknown.ended, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/^The database cannot be used: .+\n$/),
  ])
  expect(unknown.stdout).not.toContain('listening')
  expect(unknown.stdout).not.toContain(newKey)
})

const rex = { name: 'Rex', categoryId: 7 }
