import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server that the tests share. Provided only to projects on PostgreSQL. */
    postgresUrl: string
  }
}

/** Starts one server for all tests on PostgreSQL. Each test has a separate database. fsync is off, for speed. */
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
