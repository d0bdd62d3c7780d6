import type { Noun } from '../resource.ts'
import type { Language } from './texts.ts'

/** A text for each plural category of a language, such as `row` and `rows`. */
export type Forms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

/** How a language writes numbers, plurals and lists. */
export function formatsOf(language: Language) {
  const rules = new Intl.PluralRules(language)
  const lists = new Intl.ListFormat(language)
  const numbers = new Intl.NumberFormat(language)
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  const times = new Intl.DateTimeFormat(language, { timeStyle: 'medium' })

  function number(value: number): string {
    return numbers.format(value)
  }

  /** The form for a number. */
  function plural(value: number, forms: Forms): string {
    return forms[rules.select(value)] ?? forms.other
  }

  /** Such as `2 rows`. */
  function counted(value: number, forms: Forms): string {
    return `${number(value)} ${plural(value, forms)}`
  }

  return {
    number,
    /** The day and the time in the time zone of the browser, without seconds. */
    date: (time: Date) => dates.format(time),
    /** The time of the day with seconds. */
    time: (time: Date) => times.format(time),
    plural,
    counted,
    /** Such as `2 toys`. */
    countOf: ({ one, many }: Noun, value: number) => counted(value, { one, other: many }),
    /** Such as `a, b, and c`. */
    listOf: (names: string[]) => lists.format(names),
    /** Such as `30 s`. */
    duration: (seconds: number) => (seconds < 90 ? `${number(seconds)} s` : `${number(Math.round(seconds / 60))} min`),
  }
}

/** Leaves out the parts that are false. */
export function joined(separator: string, parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(separator)
}
