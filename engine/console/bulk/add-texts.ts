import { countOf, countOfRows, joined, number, plural, was } from '../formats.ts'
import type { Noun } from '../resource.ts'

/** What will be added. */
export function summaryText(noun: Noun, valid: number, invalid: number): string {
  const problems = `${countOfRows(invalid)} ${plural({ one: 'has', many: 'have' }, invalid)} a problem`
  return joined(', ', [`${countOf(noun, valid)} can be added`, invalid > 0 && problems])
}

/** What became of the rows. */
export function resultsText(noun: Noun, added: number, existed: number, failed: number): string {
  return joined(', ', [
    `${countOf(noun, added)} ${was(added)} added`,
    existed > 0 && `${number(existed)} had already been added`,
    failed > 0 && `${number(failed)} could not be added`,
  ])
}

export function existingText(noun: Noun, count: number): string {
  const added = `${countOf(noun, count)} ${was(count)} added by an earlier import, and may have been removed since.`
  if (count === 1) return `${added} Adding it again creates a further ${noun.one}.`
  return `${added} Adding them again creates ${number(count)} further ${noun.many}.`
}

export function doubtfulText(noun: Noun, count: number): string {
  const them = count === 1 ? 'it' : 'them'
  const sent = `${countOf(noun, count)} may have been added with another API key.`
  return `${sent} Look for ${them} first: adding ${them} now may add ${them} twice.`
}
