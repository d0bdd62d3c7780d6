import { useEffect, useEffectEvent, useState } from 'react'
import type { Field, Item } from '../resource.ts'

/** The dialog or popover above all others. */
export function topDialog(): Element | undefined {
  return [...document.querySelectorAll('[aria-modal="true"], :popover-open')].findLast((each) => each.checkVisibility())
}

export function titleOfPage(): HTMLElement | null {
  return document.querySelector('h1')
}

/** Moves the focus to the panel beside the list, if it is open: to its first field, if it has one. */
export function focusPanel(): void {
  const panel = document.querySelector<HTMLElement>('.panel:last-child')
  const target = panel?.querySelector<HTMLElement>('[data-autofocus]') ?? panel
  target?.focus({ preventScroll: true })
}

/** The id of the link in the row of an item. */
export function rowIdOf(id: bigint): string {
  return `row-${id}`
}

/** The link in the row of an item, which gets the focus of the row. */
export function rowOf(id: bigint): HTMLElement | null {
  return document.getElementById(rowIdOf(id))
}

/** The id of the element at which the menu of a field with choices opens. */
export function choiceIdOf(id: bigint | 'selection', { name }: Field): string {
  return `choice-${id}-${name}`
}

/** The id of the button that begins to edit a field of the item in the panel. */
export function editButtonIdOf(name: string): string {
  return `edit-${name}`
}

/** The item whose row has the focus, or a control in it. */
export function focusedRow(items: Item[] = []): Item | undefined {
  const row = document.activeElement?.closest('tr')
  return items.find(({ id }) => row?.contains(rowOf(id)))
}

/**
 * Moves the focus from an element that is about to disappear to the panel around it, the row of the list that the Tab key
 * reaches, or the title of the page.
 */
export function focusAround(element: Element): void {
  const panel = element.closest<HTMLElement>('[tabindex="-1"]')
  const row = document.querySelector<HTMLElement>('tbody a[tabindex="0"]')
  const target = panel ?? (element.contains(row) ? null : row) ?? titleOfPage()
  target?.focus({ preventScroll: true })
}

/** A ref of an element that may disappear while the focus is in it. */
export function keepFocus(element: Element | null): () => void {
  return () => {
    if (element?.contains(document.activeElement)) focusAround(element)
  }
}

/**
 * Moves the focus when the component disappears, unless another element has it by then.
 *
 * @param getTarget the element that gets the focus, by default the one that had it before
 */
export function useFocusReturn(getTarget?: () => HTMLElement | null | undefined): void {
  // The element may have left the page by then, and the panel around it not.
  const [formers] = useState(() => {
    const { activeElement } = document
    return [activeElement, activeElement?.parentElement?.closest('[tabindex="-1"]')]
  })
  const returnFocus = useEffectEvent(() => {
    if (document.activeElement !== document.body) return
    const element = [getTarget?.(), ...formers, titleOfPage()].find(
      (target) => target instanceof HTMLElement && target !== document.body && target.isConnected,
    )
    if (element instanceof HTMLElement) element.focus({ preventScroll: true })
  })
  useEffect(() => () => returnFocus(), [])
}
