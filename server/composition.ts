import { resources } from '../db/resources.ts'
import { about } from './about.ts'
import { petTransfer } from './pets/transfer.ts'

/** What the service consists of. The commands get it as an argument. */
export const composition = {
  about,
  resources,
  router: async () => (await import('./router.ts')).appRouter,
  transfers: [petTransfer],
}
