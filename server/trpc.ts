import { createTrpc } from '#service'
import type { Store } from '../db/store.ts'

/** The functions that begin the procedures and routers of this service. */
export const { procedure, mutation, router } = createTrpc<Store>()
