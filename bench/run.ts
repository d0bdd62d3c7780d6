/** Compares the service with other servers on SQLite, or with `--postgres` on PostgreSQL. */
await (process.argv.includes('--postgres') ? import('./postgres/compare.ts') : import('./sqlite.ts'))
