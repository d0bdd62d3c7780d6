import { z } from 'zod'

/** These checks only add issues. Others may change the value: `overwrite`, `superRefine`, `check`, a URL format. */
const readOnlyChecks = [
  z.core.$ZodCheckLessThan,
  z.core.$ZodCheckGreaterThan,
  z.core.$ZodCheckMinLength,
  z.core.$ZodCheckMaxLength,
  z.core.$ZodCheckRegex,
  z.core.$ZodCheckNumberFormat,
]

/**
 * Whether parsing with this schema returns every valid value unchanged, except for fields that the schema does not list,
 * which both adapters omit. Unknown kinds of schemas and checks are assumed to change values.
 */
export function keepsValues(schema: unknown, parents: unknown[] = []): boolean {
  // A recursive schema cannot be compiled to a serializer.
  if (parents.includes(schema)) return false
  if (schema instanceof z.ZodArray) return onlyChecks(schema) && keepsValues(schema.element, [...parents, schema])
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape)
    return (
      onlyChecks(schema) &&
      schema._zod.def.catchall === undefined &&
      // Other names would have to be escaped, and Zod drops __proto__.
      fields.every(
        ([name, field]) => /^(?!__proto__$)\w+$/.test(name) && keepsValues(requiredPart(field), [...parents, schema]),
      )
    )
  }
  // A refinement could change an array, an object or a date, but not a scalar, because it gets the value itself.
  if (schema instanceof z.ZodEnum) return onlyChecks(schema)
  if (schema instanceof z.ZodDate) return !schema._zod.def.coerce && onlyChecks(schema)
  const isScalar =
    schema instanceof z.ZodString ||
    schema instanceof z.ZodNumber ||
    schema instanceof z.ZodBigInt ||
    schema instanceof z.ZodBoolean
  return isScalar && !schema._zod.def.coerce && onlyChecks(schema, [...readOnlyChecks, z.core.$ZodCustom])
}

/** The schema of the value of a field that may be absent. Both adapters omit such a field if it is undefined. */
export function requiredPart(field: z.core.$ZodType): z.core.$ZodType {
  return field instanceof z.ZodOptional ? requiredPart(field.unwrap()) : field
}

function onlyChecks(schema: z.ZodType, allowed: (new (def: never) => unknown)[] = readOnlyChecks): boolean {
  return (schema._zod.def.checks ?? []).every((check) => allowed.some((kind) => check instanceof kind))
}
