import './hint.css'
import { keyName, keysOf, type Shortcut } from './keyboard.ts'

/** The attributes of an element that shows a label and a shortcut while it is hovered, or focused with the Tab key. */
export function hint(label: string, shortcut?: Shortcut) {
  const keys = shortcut ? keysOf(shortcut) : []
  const [first] = keys
  if (first === undefined) return { 'data-hint': label }
  return { 'data-hint': `${label} (${keyName(first)})`, 'aria-keyshortcuts': keys.join(' ').replace('mod', 'Control') }
}

/** Hides hints where the style sheet alone would show them: after a click or Escape, and when a script moves the focus. */
export function followHints(): void {
  const root = document.documentElement
  function hide() {
    for (const each of document.querySelectorAll('[data-hint]:hover')) each.toggleAttribute('data-hint-hidden', true)
  }
  addEventListener('pointerdown', () => {
    root.removeAttribute('data-tabbed')
    hide()
  })
  addEventListener('pointerover', () => {
    for (const each of document.querySelectorAll('[data-hint-hidden]:not(:hover)'))
      each.removeAttribute('data-hint-hidden')
  })
  function handleKey({ key }: KeyboardEvent) {
    root.toggleAttribute('data-tabbed', key === 'Tab')
    if (key === 'Escape') hide()
  }
  // A dialog moves the focus with the key itself.
  addEventListener('keydown', handleKey, { capture: true })
}
