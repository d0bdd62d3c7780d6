import { useEffect, useRef, useState } from 'react'

/** The dialog or popover above all others. */
export function topDialog(): Element | undefined {
  return [...document.querySelectorAll('[aria-modal="true"], :popover-open')].at(-1)
}

function titleOfPage(): HTMLElement | null {
  return document.querySelector('h1')
}

/** Moves the focus from an element that is about to disappear to the panel around it, or to the title of the page. */
function focusAround(element: Element): void {
  const panel = element.closest<HTMLElement>('[tabindex="-1"]')
  const target = panel ?? titleOfPage()
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
  const [former] = useState(() => document.activeElement)
  const latest = useRef(getTarget)
  useEffect(() => {
    latest.current = getTarget
  }, [getTarget])
  useEffect(() => {
    return () => {
      if (document.activeElement !== document.body) return
      const target = latest.current?.() ?? former
      const isUsable = target instanceof HTMLElement && target !== document.body && target.isConnected
      const element = isUsable ? target : titleOfPage()
      element?.focus({ preventScroll: true })
    }
  }, [former])
}
