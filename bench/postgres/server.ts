import { Client } from 'pg'
import { openPostgres } from '../../test/support/engines.ts'
import { startPostgres } from '../../test/support/postgres/server.ts'
import { apiKeyRecord, mintApiKey } from '../../test/support/product.ts'
import { cpuTimeWithChildren, parentOf } from '../proc.ts'

export interface BenchPostgres {
  /** The URL of the database `postgres`. */
  url: string
  /** The API key in all databases. */
  key: string
  version: string
  /** Creates a database for one server and returns its URL. */
  copyDatabase(name: string, options: { isOwn: boolean }): Promise<string>
  dropDatabase(name: string): Promise<void>
  /** Microseconds of CPU time of all PostgreSQL processes. */
  cpuTime(): number
  stop(): Promise<void>
}

/** Starts a PostgreSQL with default settings and a template database of this number of pets, a third of each status. */
export async function startBenchPostgres(pets: number): Promise<BenchPostgres> {
  const server = await startPostgres()
  try {
    const client = await connect(server.url)
    await client.query('CREATE DATABASE template_petstore TEMPLATE template0')
    const key = await fill(urlOf('template_petstore'), pets)
    const { rows } = await client.query<{ pid: number; version: string }>(
      "SELECT pg_backend_pid() AS pid, current_setting('server_version') AS version",
    )
    const { pid = 0, version = '' } = rows[0] ?? {}
    const postmaster = parentOf(pid)
    return {
      url: server.url,
      key,
      version,
      async copyDatabase(name, { isOwn }) {
        await client.query(`CREATE DATABASE ${name} TEMPLATE template_petstore`)
        if (!isOwn) await run(urlOf(name), 'DROP TRIGGER pets_take_turns ON pets')
        // Without a checkpoint, PostgreSQL would write the copy to disk during the measurement.
        await client.query('CHECKPOINT')
        return urlOf(name)
      },
      async dropDatabase(name) {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
      },
      cpuTime: () => cpuTimeWithChildren(postmaster),
      async stop() {
        await client.end()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }

  function urlOf(name: string): string {
    return Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  }
}

/** Creates the service's tables and the pets, and returns an API key. */
async function fill(url: string, pets: number): Promise<string> {
  const key = mintApiKey()
  const store = await openPostgres({ url })
  const { id } = await store.apiKeys.create(apiKeyRecord(key, 'bench'))
  await store.apiKeys.touch(id, new Date())
  await store.close()
  await run(
    url,
    `INSERT INTO pets (name, category_id, status)
      SELECT 'pet ' || i, i % 50, ('{available,pending,sold}'::text[])[1 + i % 3] FROM generate_series(1, ${pets}) AS i`,
    'VACUUM (FREEZE, ANALYZE)',
  )
  return key
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = await connect(url)
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

export async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  // The next query rejects if the connection breaks. Without a listener, the error would end the process before the cleanup.
  client.on('error', () => {})
  await client.connect()
  return client
}
