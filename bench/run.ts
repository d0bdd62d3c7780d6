/**
 * Compares the service with other servers: on SQLite, with `--independent` under requests that arrive independently, or
 * with `--postgres` on PostgreSQL. `--instances` measures 1 to 8 instances on one PostgreSQL.
 */
if (process.argv.includes('--postgres')) await import('./postgres/compare.ts')
else if (process.argv.includes('--instances')) await import('./postgres/instances.ts')
else if (process.argv.includes('--independent')) await import('./independent/compare.ts')
else await import('./sqlite.ts')
