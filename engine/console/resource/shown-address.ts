import { useEffect, useEffectEvent } from 'react'
import { useAccess } from './access.ts'
import { useList, useResource } from './page-context.ts'
import { hrefOf, readView } from './view.ts'

/**
 * Lets the address say what the page shows, without the parts of it that mean nothing. A key that may only read opens no
 * form: `onRefused` says why.
 */
export function useShownAddress(onRefused: () => void): void {
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view follows the address, which is read again.
  useEffect(() => {
    const href = hrefOf(resource, readView(resource))
    if (partsOf(href.slice('./'.length)) !== partsOf(location.search)) history.replaceState(history.state, '', href)
  }, [resource, view])
}

/** The parameters in an order of their own: a filter that is added later comes last. */
function partsOf(search: string): string {
  return JSON.stringify([...new URLSearchParams(search)].sort())
}
