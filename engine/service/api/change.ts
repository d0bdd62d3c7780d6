import { z } from 'zod'
import { Int64 } from './int64.ts'
import { withoutDefault } from './schema.ts'
import { Time } from './time.ts'
import { isRecord, mustBe, refuseNames, shorten } from './validation.ts'

export type Fields = Record<string, z.ZodType>

/** The schema of a value that is given, without a default. */
type WithoutDefault<Schema> = Schema extends z.ZodDefault<infer Inner> | z.ZodPrefault<infer Inner> ? Inner : Schema

/** Each field may be absent, and an optional one may also be null, which stands for no value. */
type PartialFields<F extends Fields> = {
  [Name in keyof F]: WithoutDefault<F[Name]> extends z.ZodOptional<infer Value>
    ? z.ZodOptional<z.ZodNullable<Value>>
    : z.ZodOptional<WithoutDefault<F[Name]>>
}

function partial<F extends Fields>(fields: F): PartialFields<F> {
  const parts = Object.entries(fields).map(([name, field]) => {
    const given = withoutDefault(field)
    return [name, given instanceof z.ZodOptional ? z.nullable(given.unwrap()).optional() : z.optional(given)]
  })
  // Safe: the entries are those of the type.
  return Object.fromEntries(parts) as PartialFields<F>
}

/** A misspelt field must not be ignored: the call would change what its caller wants to keep, or without what it expects. */
function strict<F extends Fields>(fields: F) {
  return z.strictObject(fields, {
    error: (issue) =>
      isRecord(issue) && Array.isArray(issue.keys)
        ? mustBe(`no field ${shorten(issue.keys.join(', '))}`, '')(issue)
        : mustBe('an object')(issue),
  })
}

/** The input of an update: at least one new value, and what the caller has seen. `id` is such as `{ noteId: AnyId }`. */
export function updateInput<Id extends Fields, F extends Fields>(id: Id, fields: F) {
  refuseNames(fields, ['expected', ...Object.keys(id)])
  const names = Object.keys(fields)
  const hasChange = (input: object) => names.some((name) => Reflect.get(input, name) !== undefined)
  return strict({ ...id, ...partial(fields), expected: expectedInput(fields) }).refine(hasChange, {
    error: mustBe(`a field to change: ${names.join(', ')}`, ''),
  })
}

/** The input of a removal: the id, as in {@link updateInput}, and what the caller has seen. */
export function removeInput<Id extends Fields, F extends Fields>(id: Id, fields: F) {
  return strict({ ...id, expected: expectedInput(fields) })
}

function expectedInput<F extends Fields>(fields: F) {
  return strict(partial(fields)).optional().meta({
    description:
      'What the caller has seen. If one of these fields has another value now, nothing changes, and the call fails with `conflict`.',
  })
}

/** The output of a history, the newest change first. `id` is such as `{ noteId: Int64 }`; `fields` are the others of a row. */
export function historyOutput<Id extends Fields, F extends Fields>(id: Id, fields: F) {
  const plain = Object.entries(fields).map(([name, field]) => [name, withoutDefault(field)])
  // Safe: without a default, a schema has the same output.
  const part = z.object(Object.fromEntries(plain) as F).partial()
  const change = z.object({
    id: Int64.meta({ description: 'The id of the change, for `cursor`.' }),
    at: Time.meta({ description: 'When it was made.' }),
    keyName: z.string().optional().meta({ description: 'The name of the API key.' }),
    idempotencyKey: z.string().optional().meta({ description: 'The idempotency key of the call, if it had one.' }),
    ...id,
    kind: z.enum(['update', 'remove']).meta({ description: 'Whether it was an update or a removal.' }),
    before: part.meta({
      description: 'The fields that an update has changed. If the row was removed, all its fields.',
    }),
    after: part.optional().meta({ description: 'The same fields after the update. Absent if the row was removed.' }),
  })
  return z.array(change)
}
