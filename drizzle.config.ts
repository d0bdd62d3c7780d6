import { defineConfig } from 'drizzle-kit'

/** drizzle-kit drafts migrations (`npm run db:generate`), but never runs them; review adds what it cannot write: STRICT, AUTOINCREMENT, CHECKs. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './{db/*/*,engine/store/{collection/idempotency,keys/table}}.ts',
  out: './db/migrations/sqlite',
  // For drizzle-kit studio.
  dbCredentials: { url: process.env.DATABASE_URL ?? 'file:data/petstore.db' },
})
