import { petsRouter } from './pets.ts'
import { router } from './trpc.ts'

/** Every procedure of the service. Both doors, the document and the client's types are made from it. */
export const appRouter = router({ pets: petsRouter })
export type AppRouter = typeof appRouter
