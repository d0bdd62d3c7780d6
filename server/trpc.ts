import type { Store } from '../db/store.ts'
import { createTrpc } from '../engine/service/trpc/trpc.ts'

/** The functions that begin the procedures and routers of this service. */
export const { procedure, mutation, router } = createTrpc<Store>()
