import { sql } from 'drizzle-orm'
import { type Mutation, type PostgresAccess, postgresTableOf, sqlTextOf } from '#store/postgres'
import {
  type Copy,
  maxCopies,
  maxPriority,
  minPriority,
  NoSuchNote,
  type Raise,
  type Raised,
  TooManyCopies,
  notes as table,
  throwDefect,
} from './tables.ts'

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

const copy: Mutation<Copy, { copies: bigint }> = {
  fields: ['body', 'priority'],
  hasOrderedIds: true,
  probe: "EXPLAIN INSERT INTO notes (body, state, priority) VALUES ('', 'open', 0)",
  async run(database, rows) {
    const outcomes = []
    for (const [body, priority] of rows) {
      const counted = await database.query<{ copies: bigint }>({
        name: 'count_copies',
        text: 'SELECT count(*) AS copies FROM notes WHERE body = $1',
        values: [body],
      })
      const copies = (counted.rows[0]?.copies ?? 0n) + 1n
      if (copies > maxCopies) {
        outcomes.push(new TooManyCopies(`More than ${maxCopies} notes have this body.`, 'notes'))
        continue
      }
      await database.query({ ...inserting, values: [body, priority] })
      throwDefect(body)
      outcomes.push({ copies })
    }
    return outcomes
  },
}

const raising = {
  name: 'raise_notes',
  text: `UPDATE notes SET priority = greatest(${minPriority}, least(${maxPriority}, priority::numeric + $2))
    WHERE id = $1 RETURNING priority`,
}

const raise: Mutation<Raise, Raised> = {
  fields: ['id', 'amount'],
  hasOrderedIds: false,
  probe: 'EXPLAIN UPDATE notes SET priority = 0',
  async run(database, rows) {
    const outcomes = []
    // One after the other, because several may raise the same note.
    for (const values of rows) {
      const [raised] = (await database.query<Raised>({ ...raising, values })).rows
      outcomes.push(raised ?? new NoSuchNote(`No note has the id ${values[0]}.`, 'notes'))
    }
    return outcomes
  },
}

export const writes = { copy, raise }

export function open({ replayable }: PostgresAccess) {
  return { copy: replayable(copy), raise: replayable(raise) }
}
