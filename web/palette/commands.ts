import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { IconSearch } from '../components/icons.tsx'
import { idIn } from '../resource/search.ts'
import { usePage } from '../resource/use-page.ts'
import { pageSizes } from '../resource/view.ts'
import { type Item, isSearchable, textOf } from '../resource.ts'
import type { SignOutScope } from '../session.ts'
import { type Command, wordsOf } from './command.ts'
import { useConsoleCommands } from './console-commands.ts'
import { usePageCommands } from './page-commands.ts'

/** Milliseconds without a key until the service is asked. */
const pause = 120
const maxItems = 8

/** What a text finds, in the order of its groups: commands, an id, and items. */
export function useCommands(
  text: string,
  onSignOut: (scope: SignOutScope) => void,
): { commands: Command[]; isLoading: boolean } {
  const { resource, texts, queries, view, refs, open, turnTo } = usePage()
  const wanted = text.trim()
  const [searched] = useDebouncedValue(text, pause)
  const isSearched = isSearchable(resource) && wanted !== ''
  const { data, isFetching, isPlaceholderData } = useQuery({
    ...queries.page({ filter: {}, search: searched, order: undefined, cursor: 0n, size: pageSizes[0] }),
    enabled: isSearched && searched === text,
    placeholderData: keepPreviousData,
  })
  const all = [...usePageCommands(), ...useConsoleCommands(onSignOut)]
  const words = wordsOf(text)
  const commands = all.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
  const id = idIn(wanted)
  const isCurrent = searched === text && !isPlaceholderData
  // While the text gets longer, those of the former items that it still finds stay.
  const isFound = (item: Item) => isCurrent || titleOf(item).toLowerCase().startsWith(wanted.toLowerCase())
  const titleOf = (item: Item) => textOf(item[resource.title])

  function search() {
    // The row that had the focus may not be found.
    refs.heading.current?.focus({ preventScroll: true })
    turnTo({ search: text }, { replace: view.search !== undefined })
  }

  const byId: Command[] =
    id === undefined
      ? []
      : [{ name: 'id', group: 'items', label: texts.item.heading(id), run: () => open({ kind: 'item', id }) }]
  const items = (isSearched && data ? data.filter(isFound) : []).slice(0, maxItems).map(
    (item): Command => ({
      name: `item-${item.id}`,
      group: 'items',
      label: titleOf(item),
      item,
      run: () => open({ kind: 'item', id: item.id }),
    }),
  )
  const searching: Command[] = isSearched
    ? [{ name: 'search', group: 'items', label: texts.palette.search(wanted), icon: IconSearch, run: search }]
    : []
  const found = [...byId, ...items, ...searching]
  return {
    isLoading: isSearched && (isFetching || searched !== text),
    commands: id === undefined ? [...commands, ...found] : [...found, ...commands],
  }
}
