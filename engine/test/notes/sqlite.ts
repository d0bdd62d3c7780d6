import type { SqliteMutation } from '#store'
import { type Copy, maxCopies, TooManyCopies, throwDefect } from './tables.ts'

/** Two statements, of which the second may find that the first must not stay. */
const copy: SqliteMutation<Copy, { copies: bigint }> = {
  fields: ['body', 'priority'],
  prepare(connection) {
    const insert = connection.prepare("INSERT INTO notes (body, state, priority) VALUES (?, 'open', ?)")
    const count = connection.prepare<unknown[], bigint>('SELECT count(*) FROM notes WHERE body = ?').pluck()
    return ({ body, priority = 0n }) => {
      insert.run(body, priority)
      const copies = count.get(body) ?? 0n
      throwDefect(body)
      if (copies > maxCopies) throw new TooManyCopies(`More than ${maxCopies} notes have this body.`)
      return { copies }
    }
  },
}

export const mutations = { copy }
