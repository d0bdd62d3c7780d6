import type { PetStatus } from '../client/index.ts'

export const petStatuses: readonly PetStatus[] = ['available', 'pending', 'sold']

export function isPetStatus(text: unknown): text is PetStatus {
  return petStatuses.some((status) => status === text)
}
