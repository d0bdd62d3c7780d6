import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import { RowChanged } from './errors.ts'
import { methodOf, type RunMutation } from './mutation.ts'
import { type Entity, fieldsOfNew, type NewEntity, textOfValue } from './row.ts'

/** Changes of a row, which are the same on both databases: the row is read, compared and changed here, and written. */

/** Some fields of a row. Null stands for an optional field that is absent. A field that is undefined is not meant. */
type Some<Row> = { [Name in keyof Row]?: Row[Name] | (undefined extends Row[Name] ? null : never) | undefined }

export interface Expectation<T extends Table> {
  id: bigint
  /** What the caller has seen. If one of these fields has another value now, the mutation rejects with {@link RowChanged}. */
  expected?: Some<Omit<Entity<T>, 'id'>> | undefined
}

/** What a change of a collection with a history also has: the name of the API key of its caller. */
export type By<H extends boolean> = H extends true ? { by?: string | undefined } : unknown

export interface Change<T extends Table> extends Expectation<T> {
  /** The new values. Other fields stay as they are. */
  set: Some<NewEntity<T>>
}

/**
 * The values of a call: the id, the name of the API key, the fields to set (null for a removal), the expected fields, and the
 * values of both. Fields are in the order of the columns, so that a column that is added later does not change the fingerprint.
 */
type ChangeValues = [id: bigint, by: string | null, set: string | null, expected: string, ...values: unknown[]]

/** A call, as both databases perform it. Null stands for an optional field that is absent. */
export interface RowChange {
  id: bigint
  by: string | null
  /** Undefined for a removal. */
  set: Record<string, unknown> | undefined
  expected: Record<string, unknown>
}

/** Makes the method of a mutation that changes or deletes a row. It resolves to what the mutation returns. */
export function changeMethodOf<T extends Table, Result>(table: T, run: RunMutation) {
  const fields = Object.keys(getTableColumns(table)).filter((field) => field !== 'id')
  const { given } = fieldsOfNew(table)

  function valuesOf({ id, by, set, expected = {} }: Expectation<T> & Partial<Change<T>> & By<true>): ChangeValues {
    const fieldsIn = (names: string[], part: object) => names.filter((name) => Reflect.get(part, name) !== undefined)
    const [toSet, toExpect] = [fieldsIn(given, set ?? {}), fieldsIn(fields, expected)]
    return [
      id,
      by ?? null,
      set ? toSet.join() : null,
      toExpect.join(),
      ...toSet.map((name): unknown => Reflect.get(set ?? {}, name)),
      ...toExpect.map((name): unknown => Reflect.get(expected, name)),
    ]
  }

  // Safe: the mutation returns a row, or undefined if there is none.
  return methodOf(valuesOf, run, (result) => result as Result | undefined)
}

/** The call that has these values. */
export function changeOf(values: unknown[]): RowChange {
  // Safe: the values are those of `changeMethodOf`.
  const [id, by, set, expected, ...given] = values as ChangeValues
  const toSet = namesIn(set)
  const part = (names: string[], start: number) =>
    Object.fromEntries(names.map((name, index) => [name, given[start + index]]))
  const isRemoval = set === null
  return { id, by, set: isRemoval ? undefined : part(toSet, 0), expected: part(namesIn(expected), toSet.length) }
}

function namesIn(list: string | null): string[] {
  return list ? list.split(',') : []
}

/**
 * The row after a change; undefined after a removal.
 *
 * @throws {RowChanged} if it is not as expected, also if it has the new values: or else two callers could sell the same item
 */
export function changeRow<T extends Table>(
  table: T,
  row: Entity<T>,
  { set, expected }: RowChange,
): Entity<T> | undefined {
  const differs = (name: string) => textOfValue(Reflect.get(row, name)) !== textOfValue(expected[name])
  const changed = Object.keys(expected).filter(differs)
  if (changed.length > 0) throw new RowChanged(`Changed meanwhile: ${changed.join(', ')}.`, getTableName(table))
  if (!set) return undefined
  const values = Object.entries({ ...row, ...set }).filter(([, value]) => value !== null)
  // Safe: the values are those of fields of the row.
  return Object.fromEntries(values) as Entity<T>
}
