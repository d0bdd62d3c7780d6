import { createTrpc } from '#service'
import type { NotesStore } from './definition.ts'

export const { procedure, mutation, router } = createTrpc<NotesStore>()
