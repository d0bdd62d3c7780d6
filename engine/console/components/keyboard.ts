import { useWindowEvent } from '@mantine/hooks'
import { storage } from '../storage.ts'
import { titleOfPage, topDialog } from './focus.ts'

/** The keys of each action, for its handler, its tooltip and the help, which lists them in this order. */
export const shortcuts = {
  search: ['/'],
  add: ['n'],
  choose: ['s'],
  edit: ['e'],
  remove: ['Delete'],
  undo: ['z', 'mod+z'],
  notice: ['m', 'F8'],
  nextItem: ['j', 'ArrowDown'],
  previousItem: ['k', 'ArrowUp'],
  selectItem: ['x', 'Space'],
  selectNext: ['shift+ArrowDown'],
  selectPrevious: ['shift+ArrowUp'],
  nextPage: [']'],
  previousPage: ['['],
  close: ['Escape'],
  help: ['?'],
}

export type Shortcut = keyof typeof shortcuts

/** The name of an entry in the local storage, which exists if the user has turned off the keys of one character. */
const charactersKey = 'character-keys'

let hasCharacterKeys: boolean | undefined

/** Whether letters and signs are shortcuts. Speech input, for example, types them by accident (WCAG 2.2, 2.1.4). */
export function areCharactersOn(): boolean {
  hasCharacterKeys ??= storage('localStorage').get(charactersKey) !== 'off'
  return hasCharacterKeys
}

/** Handlers and tooltips follow when they are rendered again, as they are when the help is closed. */
export function setCharactersOn(isOn: boolean): void {
  hasCharacterKeys = isOn
  storage('localStorage').set(charactersKey, isOn ? 'on' : 'off')
}

/** The keys of an action that are not turned off. */
export function keysOf(shortcut: Shortcut): string[] {
  return shortcuts[shortcut].filter((key) => key.length > 1 || areCharactersOn())
}

/** Marks the elements in which arrow keys move between items. Elsewhere they scroll the page. */
export const arrowKeys = { 'data-arrow-keys': true }

/** Handles shortcuts while the component is mounted. A key that is held down only moves again. */
export function useShortcuts(actions: Partial<Record<Shortcut, () => void>>): void {
  useWindowEvent('keydown', (event) => {
    // Safe: TypeScript types the names of entries as strings.
    const known = Object.keys(actions) as Shortcut[]
    const shortcut = known.find((name) => keysOf(name).some((keys) => arePressed(keys, event)) && isFor(name, event))
    if (!shortcut || (event.repeat && !/^(next|prev|select)/.test(shortcut))) return
    event.preventDefault()
    actions[shortcut]?.()
  })
}

function arePressed(keys: string, event: KeyboardEvent): boolean {
  const { ctrlKey, altKey, metaKey, shiftKey } = event
  const [key = '', modifier] = keys.split('+').reverse()
  if (latinKeyOf(event).toLowerCase() !== key.toLowerCase()) return false
  // On other keyboard layouts, punctuation needs Shift, Option or AltGr, which browsers report as Control and Alt.
  if (/^\W$/.test(key)) return !metaKey && (altKey || !ctrlKey)
  return (ctrlKey || metaKey) === (modifier === 'mod') && shiftKey === (modifier === 'shift') && !altKey
}

/** Where signs are on a Latin keyboard. */
const signs: Record<string, string> = { Slash: '/', BracketLeft: '[', BracketRight: ']' }

/** The key of a Latin keyboard, if a Cyrillic letter, for example, was typed. Dvorak has each Latin letter elsewhere. */
function latinKeyOf({ key, code }: KeyboardEvent): string {
  if (key === ' ') return 'Space'
  const isOfOtherScript = /^(?!\p{Script=Latin})\p{L}$/u.test(key)
  return isOfOtherScript ? (signs[code] ?? code.replace('Key', '')) : key
}

export const textFields = 'textarea, select, input:not([type="radio"], [type="checkbox"])'

function isFor(shortcut: Shortcut, { target, key, isComposing, defaultPrevented }: KeyboardEvent): boolean {
  if (isComposing || defaultPrevented || !(target instanceof Element)) return false
  // Also without the focus in it: a click beside a dialog takes the focus away. The browser closes a popover with Escape.
  const dialog = topDialog()
  if (shortcut === 'close') return !dialog
  if (target.matches(textFields)) return false
  const region = dialog ? dialog.querySelector('[data-arrow-keys]') : target.closest('[data-arrow-keys]')
  // A button in the row or the panel needs Space.
  if (/^select/.test(shortcut))
    return !dialog && (/^\S/.test(key) ? region !== null : target.matches('[data-arrow-keys] a'))
  // Also right after the page has loaded.
  if (key.startsWith('Arrow')) return region !== null || target === titleOfPage()
  // In the dialog that shows an item.
  if (/^(choose|edit|remove|undo|notice)$/.test(shortcut)) return !dialog || region !== null
  const isMove = shortcut === 'nextItem' || shortcut === 'previousItem'
  return !dialog || (isMove && region !== null)
}

/** The name of a key, as it is printed on keyboards. */
export function keyName(key: string): string {
  if (key.startsWith('shift+')) return `Shift ${keyName(key.slice('shift+'.length))}`
  return { ArrowDown: '↓', ArrowUp: '↑', Escape: 'Esc' }[key] ?? key
}
