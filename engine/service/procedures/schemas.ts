import type { AnyRouter } from '@trpc/server'
import type { z } from 'zod'
import { fieldsIn } from '../api/schema.ts'
import { isText } from '../api/text.ts'
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
