import type { PetStatus } from '../../client/index.ts'
import { messages } from '../messages/index.ts'

/** The name of each status for the user. */
export const statusNames: Record<PetStatus, string> = messages.pet.statuses

export const petStatuses = Object.keys(statusNames).filter(isPetStatus)

export function isPetStatus(text: unknown): text is PetStatus {
  return typeof text === 'string' && Object.hasOwn(statusNames, text)
}
