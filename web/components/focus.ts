import { useEffect, useRef, useState } from 'react'

/** Moves the focus from an element that is about to disappear to the panel around it, or to the title of the page. */
export function focusAround(element: Element): void {
  const panel = element.closest<HTMLElement>('[tabindex="-1"]')
  const target = panel ?? document.querySelector('h1')
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
      const element = isUsable ? target : document.querySelector('h1')
      element?.focus({ preventScroll: true })
    }
  }, [former])
}
