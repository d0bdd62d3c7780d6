import type { TestProject } from 'vitest/node'
import { startPgBouncer } from './pgbouncer.ts'
import { startPostgres } from './server.ts'

/**
 * Starts one server for all tests on PostgreSQL. Each test has a separate database. fsync is off, for speed. With PGBOUNCER in
 * the environment, the tests reach it through PgBouncer.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({
    autovacuum: 'off',
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    shared_buffers: '64MB',
  })
  const pooler = process.env.PGBOUNCER
    ? await startPgBouncer(server.url, { auth_type: 'md5', max_client_conn: '300' })
    : undefined
  provide('postgresUrl', pooler?.url(server.url) ?? server.url)
  return async () => {
    await pooler?.stop()
    await server.stop()
  }
}
