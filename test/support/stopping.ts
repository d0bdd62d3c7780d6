import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { bannerKey, startServer, waitForOutput } from './process.ts'
import { temporaryFolder } from './temporary.ts'

/** Starts the service on a new database and reads its first API key. */
export async function startWithKey() {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  return { server, folder, key: await waitForOutput(server, bannerKey) }
}

/** Sends a create whose body is completed when `finish` is called. */
export function createInTwoParts(url: string, key: string, agent: Agent, name: string) {
  const body = JSON.stringify({ name, categoryId: 1 })
  const sent = request(`${url}/v1/pets`, {
    method: 'POST',
    agent,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length },
  })
  sent.on('error', () => {})
  onTestFinished(() => void sent.destroy())
  const begun = new Promise<void>((resolve) => sent.write(body.slice(0, 5), () => resolve()))
  const response = once(sent, 'response').then(([incoming]) => {
    incoming.resume()
    return { name, status: incoming.statusCode, connection: incoming.headers.connection }
  })
  response.catch(() => {})
  return { begun, response, finish: () => void sent.end(body.slice(5)) }
}

/** The names of the stored pets. The service must be stopped. */
export function storedNames(folder: string): unknown[] {
  const database = new Database(join(folder, 'data/petstore.db'), { readonly: true })
  onTestFinished(() => void database.close())
  return database.prepare('SELECT name FROM pets ORDER BY name').pluck().all()
}
