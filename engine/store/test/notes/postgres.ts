import { sql } from 'drizzle-orm'
import { type Mutation, type PostgresEngine, postgresTableOf, textOf } from '../../postgres.ts'
import { type Copy, maxCopies, TooManyCopies, notes as table } from './tables.ts'

const notes = postgresTableOf(table)

const inserting = (body: ReturnType<typeof sql>, priority: ReturnType<typeof sql>) =>
  textOf(sql`INSERT INTO ${notes} (body, state, priority, created_at)
    VALUES (${body}, 'open', coalesce(${priority}, 0), '2026-01-01T00:00:00Z')`)

const copy: Mutation<Copy, { copies: bigint }> = {
  fields: ['body', 'priority'],
  hasOrderedIds: true,
  isOneStatement: false,
  probe: `EXPLAIN ${inserting(sql`''`, sql`0`)}`,
  async run(database, rows) {
    const copied = []
    for (const [body, priority] of rows) {
      const counted = await database.query<{ copies: bigint }>({
        name: 'count_copies',
        text: 'SELECT count(*) AS copies FROM notes WHERE body = $1',
        values: [body],
      })
      const copies = (counted.rows[0]?.copies ?? 0n) + 1n
      if (copies > maxCopies) throw new TooManyCopies(`More than ${maxCopies} notes have this body.`, 'notes')
      const text = inserting(sql`${sql.placeholder('body')}`, sql`${sql.placeholder('priority')}::bigint`)
      await database.query({ name: 'copy_note', text, values: [body, priority] })
      copied.push({ copies })
    }
    return copied
  },
}

export const writes = { copy }

export function open({ replayable }: PostgresEngine) {
  return { copy: replayable(copy) }
}
