import type { ReactNode } from 'react'
import { useSearch } from 'wouter/use-browser-location'
import type { Resource } from '../resource.ts'

/** A resource with a page of its own. */
export interface ConsolePage {
  resource: Resource
  /** The picture of an empty list. */
  icon: ReactNode
}

let known: [ConsolePage, ...ConsolePage[]] | undefined

/** Call it before anything is shown. A URL shows the first page, or the one that its parameter `resource` names. */
export function setPages([first, ...others]: [ConsolePage, ...ConsolePage[]]): void {
  const named = others.map(({ resource, icon }) => ({ resource: { ...resource, page: resource.many }, icon }))
  known = [first, ...named]
}

export function pages(): [ConsolePage, ...ConsolePage[]] {
  if (!known) throw new Error('The console needs pages: call start.')
  return known
}

/** The page that the URL shows. */
export function useShownPage(): ConsolePage {
  const name = new URLSearchParams(useSearch()).get('resource')
  const [first, ...others] = pages()
  return others.find(({ resource }) => resource.page === name) ?? first
}
