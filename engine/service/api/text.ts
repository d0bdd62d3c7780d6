import { z } from 'zod'
import { mustBe } from './validation.ts'

// Go and Perl do not support \u.
const [nul, control] = ['\\x00', '\\x00-\\x1f\\x7f-\\x9f']

/**
 * A text that both databases hold exactly: PostgreSQL has no NUL, and UTF-8 no lone surrogates. A field adds its own rules.
 * `min` and `max` count Unicode code points, as the databases and JSON Schema do.
 */
export const Text = z
  .string({
    error(issue: z.core.$ZodRawIssue) {
      // Zod takes the error of a schema for its checks, too.
      if (issue.code === 'too_small') return mustBe(`a length of at least ${issue.minimum}`, '')(issue)
      if (issue.code === 'too_big') return mustBe(`a length of at most ${issue.maximum}`, '')(issue)
      return mustBe('a string')(issue)
    },
  })
  .refine(isWellFormed, { error: mustBe('Unicode text', 'a lone surrogate', { code: 'unicode' }), abort: true })
  // A regular expression, because the OpenAPI document then has it.
  .regex(new RegExp(`^[^${nul}]*$`), { error: mustBe('no NUL', '', { code: 'control' }), abort: true })

function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}

/** Whether a schema of strings is made of {@link Text}. */
export function isText({ _zod }: z.core.$ZodType): boolean {
  return _zod.def.checks?.some((check) => 'fn' in check._zod.def && check._zod.def.fn === isWellFormed) ?? false
}

/** One line of 1 to `maximum` characters, as sent: not only white space, no control characters. As `lineChecks` of `#store`. */
export function line(maximum: number) {
  const error = mustBe('at least one character that is not white space', '', { code: 'blank' })
  return partOfLine(maximum)
    .refine(matches('\\S'), { error })
    .meta({ override: { pattern: `^[^${control}]*[^\\s${control}][^${control}]*$` } })
}

/** Like {@link line}, for a search: white space alone is a part of a line, too. */
export function partOfLine(maximum: number) {
  const length = {
    error: mustBe(`1 to ${maximum} characters`, '', { code: 'length', minimum: 1, maximum }),
    abort: true,
  }
  return Text.min(1, length)
    .max(maximum, length)
    .refine(matches(`^[^${control}]*$`), {
      error: mustBe('no control characters', '', { code: 'control' }),
      abort: true,
    })
}

function matches(pattern: string): (text: string) => boolean {
  const regExp = new RegExp(pattern)
  return (text) => regExp.test(text)
}
