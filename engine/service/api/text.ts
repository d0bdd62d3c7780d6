import { z } from 'zod'
import { expected } from './validation.ts'

const nul = '\\x00'

/**
 * A text that both databases hold exactly: PostgreSQL has no NUL, and UTF-8 no lone surrogates. A field adds its own rules.
 */
export const Text = z
  .string({ error: expected('a string') })
  .refine(isWellFormed, { error: expected('Unicode text', 'a lone surrogate', { code: 'unicode' }), abort: true })
  // A regular expression, because the OpenAPI document then has it.
  .regex(new RegExp(`^[^${nul}]*$`), { error: expected('no NUL', '', { code: 'control' }), abort: true })

/**
 * Allows as many Unicode code points, which the databases and JSON Schema count, too. `max` of Zod counts UTF-16 units. A
 * field has it as `Text.check(characters(1, 255))`.
 */
export function characters(minimum: number, maximum: number) {
  // More than twice as many UTF-16 units are more code points. This avoids counting those of a long text.
  const isLong = (text: string) => text.length > 2 * maximum || [...text].length > maximum
  const check = z.refine<string>((text) => !isLong(text) && [...text].length >= minimum, {
    error: expected(`${minimum} to ${maximum} characters`, '', { code: 'length', minimum, maximum }),
    abort: true,
  })
  // For the OpenAPI document.
  check._zod.onattach.push(({ _zod }) => Object.assign(_zod.bag, { minimum, maximum }))
  return check
}

function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}

/** Whether a schema of strings is made of {@link Text}, and none of its checks counts UTF-16 units. */
export function isText({ _zod }: z.core.$ZodType): boolean {
  const checks = _zod.def.checks?.map((check) => check._zod.def) ?? []
  return (
    checks.some((def) => 'fn' in def && def.fn === isWellFormed) &&
    !checks.some(({ check }) => ['max_length', 'min_length', 'length_equals'].includes(check))
  )
}
