import type { NewPet } from '../../client/index.ts'
import { messages } from '../messages/index.ts'
import { isPetStatus, petStatuses } from '../pets/pet-status.ts'

const { problems } = messages.bulk

/** The values of a row, not validated. A missing one is undefined. */
export interface Values {
  name: unknown
  categoryId: unknown
  status: unknown
}

/**
 * Applies the rules of `NewPet` in server/api/pets.ts. Its schema itself would quadruple this part of the console. A test
 * compares both.
 */
export function checkPet({ name, categoryId, status = 'available' }: Values): { pet: NewPet } | { problem: string } {
  const found = [nameProblem(name), categoryProblem(categoryId), statusProblem(status)].filter(Boolean)
  if (found.length > 0) return { problem: found.join(' ') }
  // Safe: no value has a problem.
  return { pet: { name, categoryId, status } as NewPet }
}

function nameProblem(name: unknown): string | undefined {
  if (name === undefined || name === '') return problems.nameMissing
  if (typeof name !== 'string') return problems.nameNotText
  // More than 510 UTF-16 units are more than 255 code points. The check avoids counting those of a long text.
  if (name.length > 510 || [...name].length > 255) return problems.nameTooLong
  if (!name.isWellFormed()) return problems.nameNotUnicode
  if (/\p{Cc}/u.test(name)) return problems.nameControl
  return /\S/.test(name) ? undefined : problems.nameBlank
}

function categoryProblem(categoryId: unknown): string | undefined {
  if (categoryId === undefined || categoryId === '') return problems.categoryMissing
  if (typeof categoryId !== 'bigint') {
    return Number.isInteger(categoryId) ? problems.categoryInexact : problems.categoryNotInteger
  }
  return BigInt.asIntN(64, categoryId) === categoryId ? undefined : problems.categoryTooLarge
}

function statusProblem(status: unknown): string | undefined {
  return isPetStatus(status) ? undefined : problems.status(petStatuses)
}
