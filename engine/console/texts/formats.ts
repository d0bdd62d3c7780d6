import type { Noun } from '../resource.ts'

/** The singular and the plural, such as `row` and `rows`. */
interface Forms {
  one: string
  other: string
}

const numbers = new Intl.NumberFormat('en')
const lists = new Intl.ListFormat('en')
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

export function number(value: number): string {
  return numbers.format(value)
}

/** The day and the time in the time zone of the browser, without seconds. */
export function date(time: Date): string {
  return dates.format(time)
}

/** The time of the day with seconds. */
export function time(time: Date): string {
  return times.format(time)
}

export function plural(value: number, { one, other }: Forms): string {
  return value === 1 ? one : other
}

/** Such as `2 rows`. */
export function counted(value: number, forms: Forms): string {
  return `${number(value)} ${plural(value, forms)}`
}

export function rows(count: number): string {
  return counted(count, { one: 'row', other: 'rows' })
}

export function was(count: number): string {
  return plural(count, { one: 'was', other: 'were' })
}

/** Such as `2 toys`. */
export function countOf({ one, many }: Noun, value: number): string {
  return counted(value, { one, other: many })
}

/** Such as `a, b, and c`. */
export function listOf(names: string[]): string {
  return lists.format(names)
}

/** Such as `30 s`. */
export function duration(seconds: number): string {
  return seconds < 90 ? `${number(seconds)} s` : `${number(Math.round(seconds / 60))} min`
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Leaves out the parts that are false. */
export function joined(separator: string, parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(separator)
}
