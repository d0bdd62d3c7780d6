import type { TRPCBuiltRouter, TRPCDecorateCreateRouterOptions } from '@trpc/server'
import { sessionRouter } from '#service'
import { petsRouter } from './pets/pets.ts'
import { router } from './trpc.ts'

/** All procedures. Both adapters, the OpenAPI document and the client's types come from this router. */
export const appRouter: AppRouter = router({ pets: petsRouter, session: sessionRouter })

/** The type that tRPC infers. Written out, it keeps the `@deprecated` comments of procedures in the client's declarations. */
export type AppRouter = TRPCBuiltRouter<
  (typeof petsRouter)['_def']['_config']['$types'],
  TRPCDecorateCreateRouterOptions<{ pets: typeof petsRouter; session: typeof sessionRouter }>
>
