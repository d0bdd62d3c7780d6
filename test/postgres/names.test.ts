import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { textsOfAllCharacters } from '../../engine/test/support/all-characters.ts'
import { emptyDatabase } from '../../engine/test/support/postgres/databases.ts'
import { isName } from '../support/pet-names.ts'
import { preparePostgres } from '../support/petstore.ts'

describe('the constraints of the table accept the same names as the service:', () => {
  test('every character of the Basic Multilingual Plane and some beyond, alone and among others', async () => {
    const url = await newPetstore()
    const names = textsOfAllCharacters().filter((name) => name.isWellFormed() && !name.includes('\0'))
    const accepted = await check(url, names)
    expect(names.filter((name, index) => isName(name) !== accepted[index])).toEqual([])
  })

  test('names of all lengths', async () => {
    const url = await newPetstore()
    const names = ['x', '𝒳'].flatMap((character) => [0, 1, 254, 255, 256, 510, 511].map((n) => character.repeat(n)))
    expect(await check(url, names)).toEqual(names.map(isName))
  })
})

async function newPetstore(): Promise<string> {
  const url = await emptyDatabase()
  await preparePostgres(url)
  return url
}

async function check(url: string, names: string[]): Promise<boolean[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const rules = await client.query<{ rule: string }>(
    "SELECT pg_get_expr(conbin, conrelid) AS rule FROM pg_constraint WHERE conname LIKE 'pets_name_%' AND contype = 'c'",
  )
  expect(rules.rows).toHaveLength(3)
  const all = rules.rows.map(({ rule }) => `(${rule})`).join(' AND ')
  const checked = await client.query<{ holds: boolean }>(
    `SELECT ${all} AS holds FROM unnest($1::text[]) WITH ORDINALITY AS given (name, place) ORDER BY place`,
    [names],
  )
  await client.end()
  return checked.rows.map(({ holds }) => holds)
}
