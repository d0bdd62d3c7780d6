import { petsRouter } from './pets.ts'
import { router } from './trpc.ts'

/** Every procedure of the service. The adapters, the OpenAPI document and the client's types are derived from it. */
export const appRouter = router({ pets: petsRouter })
export type AppRouter = typeof appRouter
