import { type Shortcut, shortcuts } from '../keyboard.ts'

/** The attributes of an element that shows a label and a shortcut while it is hovered or focused. */
export function hint(label: string, shortcut?: Shortcut) {
  return { 'data-hint': label, ...(shortcut && { 'aria-keyshortcuts': shortcuts[shortcut].join(' ') }) }
}
