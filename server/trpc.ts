import { createTrpc } from '#service'
import type { Store } from '../db/store.ts'

/** The functions that begin the procedures and routers of this service. Every procedure needs an API key. */
export const { query, mutation, router } = createTrpc<Store>()
