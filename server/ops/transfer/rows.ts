import type { NewPet } from '../../../db/resources.ts'
import { describeIssues } from '../../api/validation.ts'
import { NewPet as NewPetSchema } from '../../pets/pets.ts'
import { columns } from './format.ts'

/** A line of the input that is not validated yet. Lines count from 1. */
export type Row = { line: number; fields: Record<string, unknown> } | InvalidRow

/** A line with a valid pet, or with the reason why it is none. */
export type CheckedRow = { line: number; pet: NewPet } | InvalidRow

interface InvalidRow {
  line: number
  problem: string
}

/** Applies the rules and the messages of the API, but refuses unknown fields. The id is ignored: the store assigns it. */
export function checkRow(row: Row): CheckedRow {
  if ('problem' in row) return row
  const { line, fields } = row
  const unknown = Object.keys(fields).filter((name) => !columns.some((known) => known === name))
  if (unknown.length > 0) {
    return { line, problem: `unknown fields: ${unknown.map((name) => JSON.stringify(name)).join(', ')}` }
  }
  const { name, categoryId, status } = fields
  const { data, error } = NewPetSchema.safeParse({ name, categoryId: toInt64(categoryId), status })
  return data ? { line, pet: data } : { line, problem: describeIssues(error) }
}

function toInt64(value: unknown): unknown {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}
