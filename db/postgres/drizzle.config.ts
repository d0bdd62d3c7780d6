import { defineConfig } from 'drizzle-kit'

/** Drafts migrations as `drizzle.config.ts` does for SQLite; what it cannot write here is the trigger. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './db/postgres/schema.ts',
  out: './db/postgres/migrations',
  schemaFilter: ['public'],
})
