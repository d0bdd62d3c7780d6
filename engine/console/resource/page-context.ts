import type { ReactNode } from 'react'
import { createRequiredContext } from '../components/required-context.ts'
import type { Resource } from '../resource.ts'
import type { PageTexts } from '../texts/page.ts'
import type { ShownList } from './list/use-shown-list.ts'
import type { Navigation } from './navigation.ts'
import type { Queries } from './queries.ts'

export interface PageOf {
  resource: Resource
  /** The picture of an empty list. */
  icon: ReactNode
  texts: PageTexts
  queries: Queries
}

/** What the page is about. It stays the same, and so does the navigation: components that only use these do not render again. */
export const [ResourceProvider, useResource] = createRequiredContext<PageOf>()

/** What leads to another item, dialog or part of the list. */
export const [NavigationProvider, useNavigation] = createRequiredContext<Navigation>()

/** The part of the list that the page shows. */
export const [ListProvider, useList] = createRequiredContext<ShownList>()
