import type { TestProject } from 'vitest/node'

/** Lets the tests of a product run on the PostgreSQL server whose URL is in the environment, instead of on SQLite. */
export function setup({ provide }: TestProject): void {
  const { TEST_DATABASE_URL: url } = process.env
  if (url) provide('postgresUrl', url)
}
