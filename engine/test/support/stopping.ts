import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { Product } from '../../service/product.ts'
import { type Server, waitForOutput } from './process.ts'
import { temporaryFolder } from './temporary.ts'
import type { Row } from './tested.ts'

/** Services that stop while requests are sent. */
export function stoppingTests(
  row: Row,
  product: Product,
  { startServer, bannerKey }: { startServer(options: { folder: string }): Promise<Server>; bannerKey: RegExp },
) {
  /** Starts the service on a new database and reads its first API key. */
  async function startWithKey() {
    const folder = temporaryFolder()
    const server = await startServer({ folder })
    return { server, folder, key: await waitForOutput(server, bannerKey) }
  }

  /** Sends a create whose body is completed when `finish` is called. It has `begun` when the service knows of it. */
  function createInTwoParts(url: string, key: string, agent: Agent, name: string) {
    const body = JSON.stringify({ ...JSON.parse(row.json), [row.text]: name })
    const sent = request(`${url}/v1${product.path}`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    })
    sent.flushHeaders()
    sent.on('error', () => {})
    onTestFinished(() => void sent.destroy())
    const begun = once(sent, 'continue').then(() => void sent.write(body.slice(0, 5)))
    const response = once(sent, 'response').then(([incoming]) => {
      incoming.resume()
      return { name, status: incoming.statusCode, connection: incoming.headers.connection }
    })
    response.catch(() => {})
    return { begun, response, finish: () => void sent.end(body.slice(5)) }
  }

  /** The texts of the stored rows. The service must be stopped. */
  function storedTexts(folder: string): unknown[] {
    const database = new Database(join(folder, `data/${product.command}.db`), { readonly: true })
    onTestFinished(() => void database.close())
    return database.prepare(`SELECT ${row.text} FROM ${row.table} ORDER BY 1`).pluck().all()
  }

  return { startWithKey, createInTwoParts, storedTexts }
}
