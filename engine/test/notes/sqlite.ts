import type Database from 'better-sqlite3'
import type { SqliteMutation } from '#store'
import { type Copy, maxCopies, TooManyCopies, throwDefect } from './tables.ts'

const copy: SqliteMutation<Copy, { copies: bigint }> = Object.assign(prepareCopy, {
  fields: ['body', 'priority'] as const,
})

export const mutations = { copy }

/** Two statements, of which the second may find that the first must not stay. */
function prepareCopy(connection: Database.Database) {
  const insert = connection.prepare("INSERT INTO notes (body, state, priority) VALUES (?, 'open', ?)")
  const count = connection.prepare<unknown[], bigint>('SELECT count(*) FROM notes WHERE body = ?').pluck()
  return (...[body, priority]: unknown[]) => {
    insert.run(body, priority ?? 0n)
    const copies = count.get(body) ?? 0n
    throwDefect(body)
    if (copies > maxCopies) throw new TooManyCopies(`More than ${maxCopies} notes have this body.`)
    return { copies }
  }
}
