import { join } from 'node:path'
import { expect, test } from 'vitest'
import { definition } from '../../../test/notes/definition.ts'
import { isOnPostgres, openDatabase } from '../../../test/support/database.ts'
import { emptyDatabase, query } from '../../../test/support/postgres/databases.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { defineStore, type StoreDefinition } from '../../collection.ts'
import { ownTables } from '../../database/migrations.ts'
import { migrateStore } from '../../open.ts'

test('the tables for new products are those that the migrations of a product have led to', async () => {
  const own = defineStore({
    url: import.meta.url,
    program: 'notes',
    migrations: { sqlite: [ownTables.sqlite], postgres: [ownTables.postgres] },
    collections: {},
  })
  const schema = await schemaAfter(own)
  expect(schema.length).toBeGreaterThan(4)
  expect(schema).toEqual(await schemaAfter(definition))
})

/** What a new database has of the tables of keys. */
async function schemaAfter(definition: StoreDefinition): Promise<unknown[]> {
  if (!isOnPostgres) {
    const path = join(temporaryFolder(), 'store.db')
    await migrateStore(definition, { kind: 'sqlite', path }, {})
    const ofKeys = "tbl_name IN ('api_keys', 'idempotency_keys') AND sql IS NOT NULL"
    const rows = openDatabase(path).prepare(`SELECT name, sql FROM sqlite_master WHERE ${ofKeys} ORDER BY name`).all()
    // SQLite quotes the name of a table that was renamed.
    return JSON.parse(JSON.stringify(rows).replaceAll('\\"', ''))
  }
  const url = await emptyDatabase()
  await migrateStore(definition, { kind: 'postgres', url }, {})
  // The order of the columns may differ.
  return query(
    url,
    `WITH keys AS (SELECT oid, relname FROM pg_class WHERE relname IN ('api_keys', 'idempotency_keys'))
    SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull::text, attidentity::text
      FROM pg_attribute JOIN keys ON oid = attrelid WHERE attnum > 0 AND NOT attisdropped
    UNION SELECT relname, conname, pg_get_constraintdef(pg_constraint.oid), '', ''
      FROM pg_constraint JOIN keys ON keys.oid = conrelid WHERE contype <> 'n'
    UNION SELECT relname, '', pg_get_indexdef(indexrelid), '', '' FROM pg_index JOIN keys ON oid = indrelid
    UNION SELECT relname, tgname, pg_get_triggerdef(pg_trigger.oid), prosrc, ''
      FROM pg_trigger JOIN keys ON keys.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid WHERE NOT tgisinternal
    ORDER BY 1, 2, 3`,
  )
}
