import { execFileSync } from 'node:child_process'
import { closeSync, copyFileSync, fsyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** A database that each server gets a copy of. */
export interface Template {
  path: string
  key: string
  pets: number
}

const program = join(import.meta.dirname, '../server/launch.mjs')
const step = 500_000

/** Creates a database of the service with pets that have random names, and an API key. */
export function makeTemplate(path: string, pets: number): Template {
  const env = { PATH: process.env.PATH, DATABASE_URL: `file:${path}` }
  const run = (...words: string[]) =>
    execFileSync(process.execPath, [program, ...words], { env, encoding: 'utf8', stdio: 'pipe' })
  run('db', 'migrate')
  const key = run('keys', 'create', 'bench').trim()
  const database = new Database(path)
  database.pragma('synchronous = OFF')
  const insert = database.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO pets (name, category_id, status) SELECT lower(hex(randomblob(3 + abs(random()) % 8))), abs(random()) % 50,
      CASE abs(random()) % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' ELSE 'sold' END FROM n`,
  )
  for (let made = 0; made < pets; made += step) insert.run(Math.min(step, pets - made))
  database.close()
  return { path, key, pets }
}

/** Copies a database and waits until it is on disk, so that the kernel does not write it during a measurement. */
export function copyDatabase(from: string, to: string): void {
  copyFileSync(from, to)
  const file = openSync(to, 'r+')
  fsyncSync(file)
  closeSync(file)
}
