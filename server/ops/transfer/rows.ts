import { describeIssues } from '../../api/validation.ts'
import { type Field, fieldsOf, parseCell, type Schemas } from './resource.ts'

/** A line of the input that is not validated yet. Lines count from 1. */
export type Row = { line: number; fields: Record<string, unknown> } | InvalidRow

/** A line with a valid item, or with the reason why it is none. */
export type CheckedRow<New> = { line: number; item: New } | InvalidRow

interface InvalidRow {
  line: number
  problem: string
}

/**
 * Makes the function that applies the rules and the messages of the API to a line, but refuses unknown fields. It ignores
 * the fields that the store assigns.
 */
export function rowCheck<New>(schemas: Schemas<New>): (row: Row) => CheckedRow<New> {
  const known = new Map(fieldsOf(schemas).map((field) => [field.name, field]))
  return (row) => {
    if ('problem' in row) return row
    const { line, fields } = row
    const unknown = Object.keys(fields).filter((name) => !known.has(name))
    if (unknown.length > 0) {
      return { line, problem: `unknown fields: ${unknown.map((name) => JSON.stringify(name)).join(', ')}` }
    }
    const given = Object.entries(fields).flatMap(([name, value]) => {
      const field = known.get(name)
      return field?.isGiven ? [[name, fromJson(field, value)]] : []
    })
    const { data, error } = schemas.newItem.safeParse(Object.fromEntries(given))
    return error ? { line, problem: describeIssues(error) } : { line, item: data }
  }
}

/** JSON has no value of these kinds. */
function fromJson(field: Field, value: unknown): unknown {
  if (field.kind === 'bigint' && typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  return field.kind === 'date' && typeof value === 'string' ? parseCell(field, value) : value
}
