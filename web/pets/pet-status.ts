import type { PetStatus } from '../../client/index.ts'

/** Each status with the color of its badge. */
export const statusColors: Record<PetStatus, string> = { available: 'green', pending: 'yellow', sold: 'blue' }

export const petStatuses = Object.keys(statusColors).filter(isPetStatus)

export function isPetStatus(text: unknown): text is PetStatus {
  return typeof text === 'string' && Object.hasOwn(statusColors, text)
}
