import { defineConfig } from 'drizzle-kit'

export default defineConfig({ dialect: 'sqlite', schema: './tables.ts', out: './migrations/sqlite' })
