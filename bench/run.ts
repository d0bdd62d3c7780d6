/** Compares the service with its peers: on SQLite, or with `--postgres` on PostgreSQL. */
await (process.argv.includes('--postgres') ? import('./postgres.ts') : import('./sqlite.ts'))
