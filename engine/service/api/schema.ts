import { z } from 'zod'
import { isRecord } from './validation.ts'

/** What schemas consist of. */

/** The schema inside of one that is optional, nullable or has a default. Undefined for any other. */
export function unwrapped({ _zod: { def } }: z.core.$ZodType): z.core.$ZodType | undefined {
  // Safe: Zod keeps the wrapped schema as `innerType`.
  return 'innerType' in def ? (def.innerType as z.core.$ZodType) : undefined
}

/** The schema of the values themselves. */
export function innerOf(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = unwrapped(schema)
  return inner ? innerOf(inner) : schema
}

/**
 * The names of the fields for whose schema `isFound` is true, also inside of lists, unions and other schemas.
 *
 * @param name that of the schema itself
 */
export function fieldsIn(
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

/** Otherwise a field that is absent would get its default. */
export function withoutDefault(field: z.core.$ZodType): z.core.$ZodType {
  return field instanceof z.ZodDefault || field instanceof z.ZodPrefault ? field.unwrap() : field
}

/** The schema of the value of a field that may be absent. Both adapters omit such a field if it is undefined. */
export function requiredPart(field: z.core.$ZodType): z.core.$ZodType {
  return field instanceof z.ZodOptional ? requiredPart(field.unwrap()) : field
}
