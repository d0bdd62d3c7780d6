import type { Store } from '../db/resources.ts'
import { createTrpc } from './api/trpc.ts'

/** What begins the procedures and routers of this service. */
export const { procedure, mutation, router } = createTrpc<Store>()
