import { useEffectEvent, useLayoutEffect } from 'react'
import { flushSync } from 'react-dom'

/**
 * The functions that close the open dialogs, the one on top last. Each dialog has an entry in the history, above that of the
 * page and with the same URL. So going back closes the dialog on top.
 */
const dialogs: (() => void)[] = []

/** Navigations that wait until the entry of the page is the current one. */
const waiting: (() => void)[] = []

/** Set while the page waits for the browser to go back. It runs out if the browser ignores that. */
let returning: ReturnType<typeof setTimeout> | undefined
/** Milliseconds. Browsers ignore a page that navigates too often. */
const returnLimit = 1_000

/** The number of dialogs of the current entry. */
function depth(): number {
  // The state may come from another page.
  const count: unknown = Object(history.state).dialogs
  return typeof count === 'number' ? count : 0
}

/** Goes back in the history, which the browser does later. Until then, navigations and entries of dialogs wait. */
export function goBack(steps = 1): void {
  returning = setTimeout(() => {
    returning = undefined
    settle()
  }, returnLimit)
  history.go(-steps)
}

/** Makes the history fit the open dialogs. */
function settle(): void {
  // Before the entry of a dialog that was opened meanwhile.
  while (!returning && depth() === 0 && waiting.length > 0) waiting.shift()?.()
  if (returning) return
  while (depth() < dialogs.length) history.pushState({ ...history.state, dialogs: depth() + 1 }, '')
  if (depth() > dialogs.length) goBack(depth() - dialogs.length)
}

/** Closes the dialogs above the entry that the user went back to. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    const isStep = !returning
    clearTimeout(returning)
    returning = undefined
    // A link with a key, which was followed on this page. It is not a step back.
    if (isStep && history.state === null && location.hash !== '') return
    if (isStep) for (const close of dialogs.slice(depth()).reverse()) flushSync(close)
    // The user may have gone forward, or a dialog may have refused to close.
    settle()
  })
  // The page may have been reloaded while a dialog was open.
  settle()
}

/** Calls a function that navigates: at once, or after the open dialogs are closed. */
export function navigateBelowDialogs(navigate: () => void): void {
  waiting.push(navigate)
  settle()
}

/**
 * Lets the user close a dialog by going back in the history.
 *
 * @param onClose may refuse to close it. Undefined for a dialog that has an entry of its own.
 */
export function useCloseOnBack(onClose: (() => void) | undefined): void {
  const hasEntry = onClose === undefined
  const handleBack = useEffectEvent(() => onClose?.())
  useLayoutEffect(() => {
    if (hasEntry) return
    const close = () => handleBack()
    dialogs.push(close)
    settle()
    return () => {
      dialogs.splice(dialogs.indexOf(close), 1)
      settle()
    }
  }, [hasEntry])
}
