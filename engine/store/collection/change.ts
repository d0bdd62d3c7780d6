import { getTableName, type Table } from 'drizzle-orm'
import { RowChanged } from './errors.ts'
import { type Caller, methodOf, type RunMutation } from './mutation.ts'
import { columnOf, type Entity, fieldsOf, type Generated, type NewEntity, type Structured, textOfValue } from './row.ts'

/** Changes of a row, which are the same on both databases: the row is read, compared and changed here, and written. */

/** Some fields of a row. Null stands for an optional field that is absent. A field that is undefined counts as not given. */
type Some<Row> = { [Name in keyof Row]?: Row[Name] | (undefined extends Row[Name] ? null : never) | undefined }

export interface Expectation<T extends Table> {
  id: bigint
  /** What the caller has seen. If one of these fields has another value now, the mutation rejects with {@link RowChanged}. */
  expected?: Some<Omit<Entity<T>, 'id'>> | undefined
}

export interface Change<T extends Table> extends Expectation<T> {
  /** The new values. Other fields stay as they are. */
  set: Some<NewEntity<T>>
}

/** What a collection's own change gets besides the id. An input with a name that is taken does not compile. */
type Input<I> = {
  [Name in keyof I]: Name extends 'id' | 'expected' | 'set' ? { taken: Name } : Structured<I[Name]>
}

/** The method of a collection's own change. Resolves to the changed row, or to undefined if no row has the id. */
export type ChangeMethod<T extends Table, I> = (
  change: Expectation<T> & I,
  caller?: Caller,
) => Promise<Entity<T> | undefined>

declare const kept: unique symbol

/** The fields that a change cannot set, with values that only the row itself has. So a change may return a whole row. */
type Kept<T extends Table> = {
  readonly [Name in keyof Generated<T>]: Generated<T>[Name] & { readonly [kept]: true }
}

/** Makes a change from a function, which returns the new values, or throws to refuse. It runs where the row is written. */
export type MakeChange<T extends Table> = <I extends Input<I>, S extends Some<NewEntity<T>> & Partial<Kept<T>>>(
  compute: (row: Readonly<NewEntity<T>> & Kept<T>, input: I) => S & Record<Exclude<keyof S, keyof Entity<T>>, never>,
) => ChangeMethod<T, I>

/** The functions of a collection's own changes, by their names. */
export type ChangeFunctions = Record<string, (row: object, input: Record<string, unknown>) => Record<string, unknown>>

/** A call, as both databases perform it. Null stands for an optional field that is absent. It is the only value of a write. */
export interface RowChange {
  id: bigint
  /** The name of the API key. */
  by: string | null
  /** The idempotency key. */
  key: string | null
  /** `update`, `remove`, or that of the collection's own change. */
  name: string
  input: Record<string, unknown>
  expected: Record<string, unknown>
}

/** Makes the method of a mutation that changes or deletes a row. It resolves to what the mutation returns. */
export function changeMethodOf<T extends Table, Result>(name: string, run: RunMutation) {
  type Call = Expectation<T> & Partial<Change<T>>

  function valuesOf({ id, expected = {}, set, ...others }: Call, caller: Caller | undefined): [RowChange] {
    const { name: by = null, key = null } = caller ?? {}
    return [{ id, by, key, name, input: givenIn(set ?? others), expected: givenIn(expected) }]
  }

  // Safe: the mutation returns a row, or undefined if there is none.
  return methodOf(valuesOf, run, (result) => result as Result | undefined)
}

function givenIn(part: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined))
}

/** The names of the fields that have other values in a part of a row. */
export function changedFields(names: string[], row: object, part: object): string[] {
  function textIn(values: object, name: string): string | null {
    const value: unknown = Reflect.get(values, name)
    // The database may have a text that is no time.
    return value instanceof Date && Number.isNaN(value.getTime()) ? '' : textOfValue(value)
  }
  return names.filter((name) => textIn(row, name) !== textIn(part, name))
}

/**
 * Prepares what changes a row of a table. It returns the row after the change, undefined after a removal, and the fields that
 * have other values.
 *
 * @throws {RowChanged} if it is not as expected, also if it has the new values: or else two callers could sell the same item
 */
export function prepareChange<T extends Table>(table: T, functions: ChangeFunctions = {}) {
  const { given, renew } = fieldsOf(table)

  return (row: Entity<T>, { name, input, expected }: RowChange): { changed?: Entity<T>; fields: string[] } => {
    const unexpected = changedFields(Object.keys(expected), row, expected)
    if (unexpected.length > 0) throw new RowChanged(unexpected, getTableName(table))
    if (name === 'remove') return { fields: [] }
    const set = name === 'update' ? input : functions[name]?.(row, input)
    if (!set) throw new TypeError(`The change ${name} has returned no fields.`)
    const names = Object.keys(set).filter((field) => set[field] !== undefined)
    const fields = changedFields(names, row, set)
    for (const field of fields) {
      // PostgreSQL would ignore another field, and report a missing value as a changed schema.
      if (given.includes(field) && (set[field] !== null || !columnOf(table, field).notNull)) continue
      throw new TypeError(`The change ${name} cannot set ${field}${set[field] === null ? ' to null' : ''}.`)
    }
    const written = {
      ...Object.fromEntries(fields.map((field) => [field, set[field]])),
      ...(fields.length > 0 && renew()),
    }
    const values = Object.entries({ ...row, ...written }).filter(([, value]) => value !== null)
    // Safe: the values are those of fields of the row.
    return { changed: Object.fromEntries(values) as Entity<T>, fields: Object.keys(written) }
  }
}
