import type { ReactNode } from 'react'
import { createRequiredContext } from '../components/required-context.ts'
import type { Resource } from '../resource.ts'
import type { PageTexts } from '../texts/page.ts'
import type { Edits } from './edits.ts'
import type { ShownList } from './list/use-shown-list.ts'
import type { Navigation } from './navigation.ts'
import type { Queries } from './queries.ts'

export interface PageOf extends Navigation {
  resource: Resource
  /** The picture of an empty list. */
  icon: ReactNode
  texts: PageTexts
  queries: Queries
  edits: Edits
}

/** What the page is about, and what leads to another item, dialog or part of the list. It stays the same. */
export const [ResourceProvider, useResource] = createRequiredContext<PageOf>()

/** The part of the list that the page shows. */
export const [ListProvider, useList] = createRequiredContext<ShownList>()
