import type { AnyRouter } from '@trpc/server'
import { z } from 'zod'
import { isText } from '../api/text.ts'
import { isRecord } from '../api/validation.ts'
import { proceduresOf } from './procedures.ts'

/** Throws an error that names the first field of a procedure whose schema does not suit its place. */
export function refuseSchemas(router: AnyRouter): void {
  for (const { name, inputs, output } of proceduresOf(router)) {
    const [text] = inputs.flatMap((input) => fieldsIn(input, isOtherText, 'input'))
    if (text !== undefined)
      throw new Error(
        `${name}: the field ${text} is a text that a database may not hold exactly. Make it of Text of #service, such as Text.min(1).max(255). The other kinds of fields are Int64, Time, z.boolean() and z.enum().`,
      )
    const [field] = fieldsIn(output, hasDefault, 'output')
    // Every response would be validated, and pass through tRPC's chain of middlewares.
    if (field !== undefined)
      throw new Error(`${name}: the field ${field} of the output has a default. Only the input needs one.`)
  }
}

function isOtherText(schema: z.core.$ZodType): boolean {
  return schema._zod.def.type === 'string' && !isText(schema)
}

function hasDefault({ _zod: { def } }: z.core.$ZodType): boolean {
  return def.type === 'default' || def.type === 'prefault'
}

/** The names of the fields with such a schema, also inside of other kinds of schemas. */
function fieldsIn(
  schema: unknown,
  isFound: (schema: z.core.$ZodType) => boolean,
  name: string,
  parents: unknown[] = [],
): string[] {
  if (parents.includes(schema)) return []
  if (!(schema instanceof z.core.$ZodType)) {
    // The fields of an object, the options of a union.
    const isList = Array.isArray(schema)
    if (!isList && !isRecord(schema)) return []
    return Object.entries(schema).flatMap(([key, each]) =>
      fieldsIn(each, isFound, isList ? name : key, [...parents, schema]),
    )
  }
  if (isFound(schema)) return [name]
  const { def } = schema._zod
  // The parts of an object are in its shape. A string has none.
  const parts = def.type === 'string' ? [] : Object.entries(def)
  return parts.flatMap(([, part]) => fieldsIn(part, isFound, name, [...parents, schema]))
}
