import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { createRequiredContext } from '../components/required-context.ts'
import type { Count, Resource } from '../resource.ts'
import type { Edits } from './edits.ts'
import type { Navigation } from './navigation.ts'
import { foundOf } from './paged-list.ts'
import { type Counts, countsWith, type Queries, totalOf } from './queries.ts'
import type { ShownList } from './use-shown-list.ts'

export interface PageOf extends Navigation {
  resource: Resource
  /** The picture of an empty list. */
  icon: ReactNode
  queries: Queries
  edits: Edits
}

/** What the page is about, and what leads to another item, dialog or part of the list. It stays the same. */
export const [ResourceProvider, useResource] = createRequiredContext<PageOf>()

/** The part of the list that the page shows. */
export const [ListProvider, useList] = createRequiredContext<ShownList>()

/** The number of items with each value of the counted field, after the edits that are not stored yet. */
export function useCounts(): Counts | undefined {
  const { resource, queries } = useResource()
  const pending = useList().states.filter(({ status }) => status === 'pending')
  const counts = useQuery(queries.counts).data
  const edits = pending.map(({ edit }) => edit)
  return counts && countsWith(resource, counts, edits)
}

/** The number of items of the whole list. Undefined until they are counted. */
export function useTotal(): Count | undefined {
  const { resource } = useResource()
  const { view, list } = useList()
  const counts = useCounts()
  return list.isScanned ? foundOf(list, view) : totalOf(resource, counts, view.filter)
}
