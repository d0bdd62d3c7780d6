import { createTrpc } from '#service'
import type { Dependencies, Settings } from './printer.ts'
import type { NotesStore } from './store.ts'

export const { query, mutation, router } = createTrpc<NotesStore, Settings, Dependencies>()
