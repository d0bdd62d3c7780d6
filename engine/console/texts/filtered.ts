import type { Noun } from '../resource.ts'
import { listOf } from './formats.ts'

/**
 * Such as `large toy with size 7`.
 *
 * @param choices the names of the choices by which a list is filtered
 * @param others the names of other values, such as `Size 7`
 */
export function filteredNoun({ one, many }: Noun, choices: string[], others: string[]): Noun {
  const phrase = (noun: string) =>
    [...choices, noun, ...(others.length > 0 ? ['with', listOf(others)] : [])].join(' ').toLowerCase()
  return { one: phrase(one), many: phrase(many) }
}
