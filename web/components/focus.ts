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
