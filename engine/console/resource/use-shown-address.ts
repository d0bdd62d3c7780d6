import { useEffect, useEffectEvent } from 'react'
import { useAccess } from './access.ts'
import { useList, useResource } from './page-context.ts'
import { hrefOf, readView } from './view.ts'

/**
 * Lets the address say what the page shows, without the parts of it that mean nothing: `onInvalid` names them. A key that may
 * only read opens no form: `onRefused` says why.
 */
export function useShownAddress(onRefused: () => void, onInvalid: (names: string[]) => void): void {
  const { resource, closeForm } = useResource()
  const { view } = useList()
  const { isReadOnly } = useAccess()
  const isRefused = view.isAdding && isReadOnly
  const refuse = useEffectEvent(() => {
    closeForm()
    onRefused()
  })
  useEffect(() => {
    if (isRefused) refuse()
  }, [isRefused])
  const sayInvalid = useEffectEvent(onInvalid)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view follows the address, which is read again.
  useEffect(() => {
    const href = hrefOf(resource, readView(resource))
    const [named, shown] = [new URLSearchParams(location.search), new URLSearchParams(href.slice('./'.length))]
    if (parametersOf(named) === parametersOf(shown)) return
    // The size may be one that fits another window, and mails add parts.
    const lost = [...new Set(named.keys())].filter((name) => !shown.has(name) && !/^(size|utm_.*)$/.test(name))
    if (named.get('changes') !== shown.get('changes')) lost.push('changes')
    if (lost.length > 0) sayInvalid(lost)
    history.replaceState(history.state, '', href)
  }, [resource, view])
}

/** The parameters in an order of their own: a filter that is added later comes last. */
function parametersOf(search: URLSearchParams): string {
  return JSON.stringify([...search].sort())
}
