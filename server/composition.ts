import { resources } from '../db/resources.ts'
import { about } from './about.ts'
import { petTransfer } from './pets/transfer.ts'
import { appRouter } from './router.ts'

/** What the service consists of. The commands get it as an argument. */
export const composition = {
  about,
  resources,
  router: appRouter,
  transfers: [petTransfer],
}
