import type { ReactElement } from 'react'
import type { Shortcut } from '../keyboard.ts'
import type { Item } from '../resource.ts'

export interface Command {
  /** Unique. */
  name: string
  group: 'selection' | 'actions' | 'view' | 'items' | 'console'
  label: string
  /** Without one, the icon of the resource. */
  icon?: () => ReactElement
  shortcut?: Shortcut
  /** The item that the command opens. */
  item?: Item
  run?: () => void
  /** Returns a text for the clipboard, instead of `run`. */
  copies?: () => string
}

/** The words of a text, each of which a command must contain. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}
