import { defineConfig } from 'drizzle-kit'

/** drizzle-kit only drafts migrations (`npm run db:generate`); review adds what it cannot write: STRICT, AUTOINCREMENT, CHECKs. */
export default defineConfig({ dialect: 'sqlite', schema: './db/sqlite/schema.ts', out: './db/sqlite/migrations' })
