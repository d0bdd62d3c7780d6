import { getTableName, is, type Table } from 'drizzle-orm'
import { getTableConfig, SQLiteInteger, SQLiteText } from 'drizzle-orm/sqlite-core'
import type { Names } from './query.ts'
import { columnOf, type TableWithId } from './row.ts'
import { oneOfCheck, timestampCheck } from './schema.ts'

/** What the compiler cannot refuse in the definition of a collection. */

/** @throws {Error} for a column, an id or a filter with which a collection would not do what its definition says */
export function refuseUnfit(table: TableWithId, filters: Names): void {
  refuseColumns(table)
  refuseReferences(table)
  refuseSlowFilters(table, filters)
  refuseReusedIds(table)
}

/** The methods that a collection may have without changes and statements of its own. */
const derivedNames = ['list', 'get', 'search', 'history', 'counts', 'create', 'update', 'remove']

/** @throws {Error} for the name of a method of a collection's own that another one has, which it would replace */
export function refuseTakenNames(table: Table, own: (object | undefined)[]): void {
  const names = own.flatMap((methods) => Object.keys(methods ?? {}))
  const taken = names.find((name, index) => derivedNames.includes(name) || names.indexOf(name) < index)
  if (taken === undefined) return
  throw new Error(
    `The collection of ${getTableName(table)} has another method ${taken}. Rename the change or statement.`,
  )
}

/** Without AUTOINCREMENT, SQLite gives the id of a removed row to another one. */
function refuseReusedIds(table: TableWithId): void {
  if (is(table.id, SQLiteInteger) && table.id.autoIncrement) return
  throw new Error(`The id of ${getTableName(table)} must be int64('id').primaryKey({ autoIncrement: true }).`)
}

/** Refuses a column that SQLite would not check, and what Drizzle's own statements would do and those of a collection not. */
function refuseColumns(table: TableWithId): void {
  const { name: tableName, columns, checks } = getTableConfig(table)
  for (const column of columns) {
    const { name, columnType, enumValues, generated, default: constant, defaultFn, onUpdateFn, notNull } = column
    const refuseIf = (isWrong: unknown, problem: string) => {
      if (isWrong) throw new Error(`The column ${name} of ${tableName} ${problem}`)
    }
    const isKnown = /^SQLite(Integer|Text|Boolean|CustomColumn)$/.test(columnType)
    refuseIf(!isKnown, 'must be text, int64, a boolean or timestamp.')
    const rule = columnType === 'SQLiteCustomColumn' ? timestampCheck : enumValues && oneOfCheck
    const lacksRule = rule && !checks.some((check) => check.name === rule(column).name)
    refuseIf(lacksRule, `needs the rule ${rule?.name} of #store.`)
    refuseIf(generated, 'has generatedAlwaysAs. Compute it with $defaultFn, or in a change.')
    // The callers give a required field, and its default is for the rows that a migration finds.
    const isUnused = constant !== undefined && !notNull
    refuseIf(isUnused, 'has a default that no row would get. Use $defaultFn, or a default of the input.')
    const hasLength = is(column, SQLiteText) && column.length !== undefined
    refuseIf(hasLength, 'has a length that no database would check. Use lineChecks.')
    refuseIf(onUpdateFn && !defaultFn, 'has $onUpdateFn. It also needs $defaultFn, for new rows.')
  }
}

/**
 * An action of a foreign key would change rows of another collection without its history and its `$onUpdateFn`, and a copy
 * finds rows of the same table before those that they refer to.
 */
function refuseReferences(table: TableWithId): void {
  const { name, foreignKeys } = getTableConfig(table)
  for (const { onDelete = 'no action', onUpdate = 'no action', reference } of foreignKeys) {
    if (onDelete !== 'no action' || onUpdate !== 'no action')
      throw new Error(
        `A foreign key of ${name} has onDelete or onUpdate. Change what refers to a row in a mutation with statements.`,
      )
    if (reference().foreignTable === table)
      throw new Error(`A foreign key of ${name} refers to its own table. Check that in a mutation with statements.`)
  }
}

/** A filter without an index would read the whole table, and on SQLite block all other requests meanwhile. */
function refuseSlowFilters(table: TableWithId, filters: Names): void {
  const { name, indexes, columns } = getTableConfig(table)
  // An index of some rows lacks the others, and one of further columns has another order than that of the ids.
  const usable = indexes.filter(
    ({ config }) => !config.where && config.columns.slice(1).every((each) => each === table.id),
  )
  const indexed = [...usable.map(({ config }) => config.columns[0]), ...columns.filter(({ isUnique }) => isUnique)]
  for (const filter of filters) {
    const column = columnOf(table, filter)
    if (indexed.includes(column)) continue
    const remedy = `Add index('${name}_by_${column.name}').on(….${filter}) to its table, and a migration.`
    throw new Error(`The filter ${filter} of ${name} has no index of its own. ${remedy}`)
  }
}
