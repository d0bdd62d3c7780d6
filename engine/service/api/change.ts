import { z } from 'zod'
import { expected } from './validation.ts'

type Fields = Record<string, z.ZodType>

/** Each field may be absent, and an optional one may also be null, which stands for no value. */
type Some<F extends Fields> = {
  [Name in keyof F]: F[Name] extends z.ZodOptional<infer Value>
    ? z.ZodOptional<z.ZodNullable<Value>>
    : z.ZodOptional<F[Name]>
}

function some<F extends Fields>(fields: F): Some<F> {
  const parts = Object.entries(fields).map(([name, field]) => [
    name,
    field instanceof z.ZodOptional ? z.nullable(field.unwrap()).optional() : field.optional(),
  ])
  // Safe: the entries are those of the type.
  return Object.fromEntries(parts) as Some<F>
}

/**
 * The input of an update: at least one of the fields, which gets a new value, and what the caller has seen.
 *
 * @param id the name of the id and its schema, such as `{ noteId: AnyId }`
 */
export function updateOf<Id extends Fields, F extends Fields>(id: Id, fields: F) {
  const names = Object.keys(fields)
  const hasChange = (input: object) => names.some((name) => Reflect.get(input, name) !== undefined)
  return z
    .object({ ...id, ...some(fields), expected: expectedOf(fields) }, { error: expected('an object') })
    .refine(hasChange, { error: expected(`a field to change: ${names.join(', ')}`, '') })
}

/** The input of a removal: the id, as in {@link updateOf}, and what the caller has seen. */
export function removalOf<Id extends Fields, F extends Fields>(id: Id, fields: F) {
  return z.object({ ...id, expected: expectedOf(fields) }, { error: expected('an object') })
}

function expectedOf<F extends Fields>(fields: F) {
  return z
    .object(some(fields), { error: expected('an object') })
    .optional()
    .meta({
      description:
        'What the caller has seen. If one of these fields has another value now, nothing changes, and the call fails with `conflict`.',
    })
}

/** The output of a removal. */
export function removedOf(id: z.ZodType<bigint>) {
  return z.object({ id })
}
