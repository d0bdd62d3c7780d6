import type { MouseEvent } from 'react'

/** Milliseconds within which a second click at the same place may be an accident. */
const sameTime = 2_000

let isRepeated = false

/**
 * Whether a click is no repetition of the last one. For a button that is followed by one like it under the pointer, which would
 * do the same to something else: it works again once the pointer has moved, a key was pressed, or some time has passed.
 */
export function isNewClick({ screenX, screenY, detail }: MouseEvent): boolean {
  // The keyboard was used.
  if (detail === 0) return true
  if (isRepeated) return false
  isRepeated = true
  const listening = new AbortController()
  const timer = setTimeout(end, sameTime)
  function end() {
    isRepeated = false
    clearTimeout(timer)
    listening.abort()
  }
  const { signal } = listening
  addEventListener('keydown', end, { signal })
  // Browsers also report a move when the page below the pointer has changed, and with fractions, unlike that of a click.
  const endIfMoved = (moved: PointerEvent) => {
    if (Math.abs(moved.screenX - screenX) + Math.abs(moved.screenY - screenY) > 2) end()
  }
  addEventListener('pointermove', endIfMoved, { signal })
  return true
}
