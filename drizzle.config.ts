import { defineConfig } from 'drizzle-kit'

/** drizzle-kit drafts migrations (`npm run db:generate`), but never runs them. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './db/tables.ts',
  out: './db/migrations/sqlite',
  // For drizzle-kit studio only: push would drop the journal of the migrations, and rebuild the tables without their rules.
  ...(process.argv.includes('studio') && {
    dbCredentials: { url: process.env.DATABASE_URL ?? 'file:data/petstore.db' },
  }),
})
