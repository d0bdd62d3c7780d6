import { useDebouncedValue, useWindowEvent } from '@mantine/hooks'
import { lazy, Suspense, useState } from 'react'

const HintTooltip = lazy(() => import('./hint-tooltip.tsx'))

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
  const target = (rested === hovered && hovered) || focused

  function hide() {
    setHovered(null)
    setFocused(null)
  }

  useWindowEvent('pointerover', (event) => setHovered(event.pointerType === 'mouse' ? hintedAround(event) : null))
  useWindowEvent('focusin', (event) => setFocused(hintedAround(event)))
  useWindowEvent('focusout', () => setFocused(null))
  useWindowEvent('pointerdown', hide)
  useWindowEvent('keydown', ({ key }) => key === 'Escape' && hide())
  return <Suspense>{target?.isConnected && <HintTooltip target={target} />}</Suspense>
}

function hintedAround({ type, target }: Event): Element | null {
  if (!(target instanceof Element)) return null
  // A click focuses an element too, but not visibly.
  if (type === 'focusin' && !target.matches(':focus-visible')) return null
  return target.closest('[data-hint]')
}
