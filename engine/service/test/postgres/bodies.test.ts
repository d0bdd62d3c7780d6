import { expect, test } from 'vitest'
import { preparePostgres } from '../../../test/notes/database.ts'
import { NewNote } from '../../../test/notes/notes.ts'
import { textsOfAllCharacters } from '../../../test/support/all-characters.ts'
import { connectTo, emptyDatabase } from '../../../test/support/postgres/databases.ts'

test('the constraints of the table accept the same bodies as the service, with every character and every length', async () => {
  const long = ['x', '𝒳'].flatMap((character) => [0, 1, 254, 255, 256, 510, 511].map((n) => character.repeat(n)))
  const bodies = [...textsOfAllCharacters(), ...long].filter((body) => body.isWellFormed() && !body.includes('\0'))
  const url = await emptyDatabase()
  await preparePostgres(url)
  const accepted = await check(url, bodies)
  const isBody = (body: string) => NewNote.safeParse({ body, priority: 1n }).success
  expect(bodies.filter((body, index) => isBody(body) !== accepted[index])).toEqual([])
})

/** Whether the table's constraints accept each body. */
async function check(url: string, bodies: string[]): Promise<boolean[]> {
  const client = await connectTo(url)
  const rules = await client.query<{ rule: string }>(
    "SELECT pg_get_expr(conbin, conrelid) AS rule FROM pg_constraint WHERE conname LIKE 'notes_body_%' AND contype = 'c'",
  )
  expect(rules.rows).toHaveLength(3)
  const all = rules.rows.map(({ rule }) => `(${rule})`).join(' AND ')
  const checked = await client.query<{ holds: boolean }>(
    `SELECT ${all} AS holds FROM unnest($1::text[]) WITH ORDINALITY AS given (body, place) ORDER BY place`,
    [bodies],
  )
  return checked.rows.map(({ holds }) => holds)
}
