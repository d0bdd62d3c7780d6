import { createTrpc } from '../../service/index.ts'
import type { NotesStore } from './definition.ts'

export const { procedure, mutation, router } = createTrpc<NotesStore>()
