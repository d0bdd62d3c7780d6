import { createTrpc } from '#service'
import type { NotesStore } from './store.ts'

export const { query, mutation, router } = createTrpc<NotesStore>()
