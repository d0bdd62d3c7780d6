import { defineConfig } from 'drizzle-kit'

/** Like `drizzle.config.ts` for SQLite. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './db/tables.ts',
  out: './db/migrations/postgres',
  schemaFilter: ['public'],
  // For drizzle-kit studio only, as in `drizzle.config.ts`.
  ...(process.argv.includes('studio') && {
    dbCredentials: { url: process.env.DATABASE_URL ?? 'postgres://localhost/petstore' },
  }),
})
