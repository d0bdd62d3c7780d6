import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the server that the tests share; only where they run on PostgreSQL. */
    postgresUrl: string
  }
}

/** One server for all tests on PostgreSQL, each of which has a database of its own in it. It need not survive anything. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({
    autovacuum: 'off',
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    shared_buffers: '64MB',
  })
  provide('postgresUrl', server.url)
  return () => server.stop()
}
