import { useDebouncedValue, useWindowEvent } from '@mantine/hooks'
import { type ComponentType, lazy, Suspense, useRef, useState } from 'react'

/** Without a tooltip if its code cannot be loaded. */
const HintTooltip = lazy<ComponentType<{ target: Element }>>(() =>
  import('./hint-tooltip.tsx').catch(() => ({ default: () => null })),
)

/** Milliseconds until the hint of a hovered element appears. */
const delay = 400

/**
 * Shows the hints of all elements with the attributes of `hint`. One tooltip for all of them, which is loaded when it is
 * first needed, keeps the code that positions it out of the first load.
 */
export function Hints() {
  const [hovered, setHovered] = useState<Element | null>(null)
  const [focused, setFocused] = useState<Element | null>(null)
  const [rested] = useDebouncedValue(hovered, delay)
  /** The element that was clicked. It has no hint until the pointer leaves it. */
  const clicked = useRef<Element>(null)
  /** Whether the user moves the focus, and not the page, which moves it when a dialog closes. */
  const isMoved = useRef(false)
  const target = (rested === hovered && hovered) || focused

  function hide() {
    setHovered(null)
    setFocused(null)
  }

  useWindowEvent('pointerover', ({ pointerType, target: entered }) => {
    const element = pointerType === 'mouse' ? hintedAround(entered) : null
    if (element !== clicked.current) clicked.current = null
    setHovered(clicked.current ? null : element)
  })
  useWindowEvent('focusin', (event) => isMoved.current && setFocused(hintedAround(event.target)))
  useWindowEvent('focusout', () => setFocused(null))
  useWindowEvent('pointerdown', (event) => {
    clicked.current = hintedAround(event.target)
    isMoved.current = false
    hide()
  })
  useWindowEvent(
    'keydown',
    ({ key }) => {
      isMoved.current = key === 'Tab'
      if (key === 'Escape') hide()
    },
    // A dialog moves the focus with the key itself.
    true,
  )
  return <Suspense>{target?.isConnected && <HintTooltip target={target} />}</Suspense>
}

function hintedAround(target: EventTarget | null): Element | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-hint]') : null
  return element && !isRepetition(element) ? element : null
}

/** Whether the hint only repeats the label that the button shows. */
function isRepetition(element: HTMLElement): boolean {
  const label = element.querySelector<HTMLElement>('.button-label')
  const isShown = label !== null && label.offsetWidth > 0 && label.textContent === element.dataset.hint
  return isShown && !element.hasAttribute('aria-keyshortcuts')
}
