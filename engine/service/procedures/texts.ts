import type { AnyRouter } from '@trpc/server'
import { z } from 'zod'
import { isText } from '../api/text.ts'
import { isRecord } from '../api/validation.ts'
import { proceduresOf } from './procedures.ts'

/** Throws an error that names the first text in the input of a procedure that is not made of `Text`. */
export function refuseOtherTexts(router: AnyRouter): void {
  for (const { name, inputs } of proceduresOf(router)) {
    const [field] = inputs.flatMap((input) => otherTextsIn(input, 'input'))
    if (field === undefined) continue
    throw new Error(
      `${name}: the field ${field} is a text that a database may not hold exactly. Make it of Text of #service, such as Text.min(1).max(255). The other kinds of fields are Int64, Time, z.boolean() and z.enum().`,
    )
  }
}

/** The names of the fields whose texts are not made of `Text`, also inside of other kinds of schemas. */
function otherTextsIn(schema: unknown, name: string, parents: unknown[] = []): string[] {
  if (parents.includes(schema)) return []
  if (!(schema instanceof z.core.$ZodType)) {
    // The fields of an object, the options of a union.
    const isList = Array.isArray(schema)
    if (!isList && !isRecord(schema)) return []
    return Object.entries(schema).flatMap(([key, each]) =>
      otherTextsIn(each, isList ? name : key, [...parents, schema]),
    )
  }
  const { def } = schema._zod
  if (def.type === 'string') return isText(schema) ? [] : [name]
  // The parts of an object are in its shape.
  return Object.entries(def).flatMap(([, part]) => otherTextsIn(part, name, [...parents, schema]))
}
