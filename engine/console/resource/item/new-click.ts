import type { MouseEvent } from 'react'

/** Milliseconds within which a second tap of a finger, which does not move between the two, may be an accident. */
const tapTime = 2_000

let isRepeated = false

/**
 * Whether a click is no repetition of the last one. For a button that is followed by one like it under the pointer, which would
 * do the same to something else: it works again once the pointer has moved or a key was pressed.
 */
export function isNewClick({ screenX, screenY, detail, nativeEvent }: MouseEvent): boolean {
  // The keyboard was used.
  if (detail === 0) return true
  if (isRepeated) return false
  isRepeated = true
  const listening = new AbortController()
  function end() {
    isRepeated = false
    listening.abort()
  }
  const { signal } = listening
  addEventListener('keydown', end, { signal })
  // Browsers also report a move when the page below the pointer has changed, and with fractions, unlike that of a click.
  const endIfMoved = (moved: PointerEvent) => {
    if (Math.abs(moved.screenX - screenX) + Math.abs(moved.screenY - screenY) > 2) end()
  }
  addEventListener('pointermove', endIfMoved, { signal })
  if (nativeEvent instanceof PointerEvent && nativeEvent.pointerType !== 'mouse') setTimeout(end, tapTime)
  return true
}
