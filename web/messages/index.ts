import { messages as en } from './en.ts'

export type Messages = typeof en

/** The catalogue in use. */
export const messages: Messages = en
