import { textOf } from '#service/fields'
import type { Count, Field, Noun } from './resource.ts'

const numbers = new Intl.NumberFormat('en')
const lists = new Intl.ListFormat('en')
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

export function number(value: number): string {
  return numbers.format(value)
}

/** The day and the time in the time zone of the browser, without seconds. */
export function date(time: Date): string {
  return dates.format(time)
}

/** The day in the time zone of the browser, such as `2026-11-30`. */
export function day(time: Date): string {
  return time.toLocaleDateString('sv')
}

/** A value as the user sees it. */
export function shownText({ choices = {} }: Field, value: unknown): string {
  return choices[String(value)] ?? (value instanceof Date ? date(value) : textOf(value))
}

/** The time of the day with seconds. */
export function time(time: Date): string {
  return times.format(time)
}

/** Such as `7`, or `1,000+` if not all were counted. */
export function countText({ count, isExact }: Count): string {
  return `${number(count)}${isExact ? '' : '+'}`
}

/** The form for one, or for several. */
export function plural({ one, many }: Noun, value: number): string {
  return value === 1 ? one : many
}

/** Such as `2 toys`. */
export function countOf(noun: Noun, value: number): string {
  return `${number(value)} ${plural(noun, value)}`
}

export function countOfRows(count: number): string {
  return countOf({ one: 'row', many: 'rows' }, count)
}

export function is(count: number): string {
  return plural({ one: 'is', many: 'are' }, count)
}

export function was(count: number): string {
  return plural({ one: 'was', many: 'were' }, count)
}

export function correctedRows(count: number): string {
  return countOf({ one: 'corrected row', many: 'corrected rows' }, count)
}

/** Such as `a, b, and c`. */
export function listOf(names: string[]): string {
  return lists.format(names)
}

/** Such as `a, b or c`. */
export function listOfAny(names: string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names)
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
