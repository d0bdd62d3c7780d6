import { createTrpc } from '#service'
import type { NotesStore } from './definition.ts'

export const { query, mutation, router } = createTrpc<NotesStore>()
