import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { textsOfAllCharacters } from '../../engine/test/support/all-characters.ts'
import { openDatabase } from '../../engine/test/support/database.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { isName } from '../support/pet-names.ts'
import { prepareSqlite } from '../support/petstore.ts'

describe('the schema accepts the same names as the service:', () => {
  test('every character of the Basic Multilingual Plane and some others, alone and inside a name', () => {
    const isStored = storesName(openPetstore())
    const names = textsOfAllCharacters()
    const disagreements = names.filter((name) => isStored(name) !== isName(name))
    expect(disagreements).toEqual([])
  })

  test.for([0, 1, 254, 255, 256, 510, 511])('names of %i characters of one or two UTF-16 code units', (length) => {
    const isStored = storesName(openPetstore())
    for (const character of ['x', '𝒳']) {
      const name = character.repeat(length)
      expect(isStored(name)).toBe(isName(name))
    }
  })
})

function openPetstore(): Database.Database {
  const path = join(temporaryFolder(), 'petstore.db')
  prepareSqlite(path)
  return openDatabase(path)
}

function storesName(database: Database.Database): (name: string) => boolean {
  const insert = database.prepare("INSERT INTO pets (name, category_id, status) VALUES (?, 1, 'sold')")
  database.exec('BEGIN')
  return (name) => {
    try {
      return insert.run(name).changes === 1
    } catch (error) {
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_CHECK') return false
      throw error
    }
  }
}
