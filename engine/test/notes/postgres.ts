import { sql } from 'drizzle-orm'
import { type PostgresMutation, postgresTableOf, sqlTextOf } from '#store/postgres'
import { type Copy, maxCopies, TooManyCopies, notes as table, throwDefect } from './tables.ts'

const notes = postgresTableOf(table)

// The placeholders are not in the order of the fields.
const inserting = {
  name: 'copy_note',
  text: sqlTextOf(
    sql`INSERT INTO ${notes} (priority, state, body)
      VALUES (coalesce(${sql.placeholder('priority')}, 0), 'open', ${sql.placeholder('body')})`,
    ['body', 'priority'],
  ),
}

const copy: PostgresMutation<Copy, { copies: bigint }> = {
  fields: ['body', 'priority'],
  probe: "EXPLAIN INSERT INTO notes (body, state, priority) VALUES ('', 'open', 0)",
  async run(database, inputs) {
    const outcomes = []
    for (const { body, priority } of inputs) {
      const counted = await database.query<{ copies: bigint }>({
        name: 'count_copies',
        text: 'SELECT count(*) AS copies FROM notes WHERE body = $1',
        values: [body],
      })
      const copies = (counted.rows[0]?.copies ?? 0n) + 1n
      if (copies > maxCopies) {
        outcomes.push(new TooManyCopies(`More than ${maxCopies} notes have this body.`))
        continue
      }
      await database.query({ ...inserting, values: [body, priority] })
      throwDefect(body)
      outcomes.push({ copies })
    }
    return outcomes
  },
}

export const mutations = { copy }
