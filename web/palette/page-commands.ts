import {
  IconArrowsSort,
  IconChevronLeft,
  IconChevronLeftPipe,
  IconChevronRight,
  IconCode,
  IconCopy,
  IconDownload,
  IconFilter,
  IconFilterOff,
  IconList,
  IconPlus,
  IconRefresh,
  IconTablePlus,
  IconX,
} from '../components/icons.tsx'
import { press } from '../keyboard.ts'
import { curlText } from '../requests/texts.ts'
import { itemCalls, listCall } from '../resource/calls.ts'
import { formats } from '../resource/list/selection-bar.tsx'
import { useRefresh } from '../resource/queries.ts'
import { type Page, usePage } from '../resource/use-page.ts'
import { everything, pageSizes, rememberSize } from '../resource/view.ts'
import { entriesOf, isSearchable, parseChoice } from '../resource.ts'
import { serviceUrl } from '../service.ts'
import { messages } from '../texts/messages.ts'
import type { Command } from './command.ts'

/** The commands of the page of a resource. */
export function usePageCommands(): Command[] {
  const page = usePage()
  return [...selectionCommands(page), ...useActions(page), ...viewCommands(page)]
}

function selectionCommands({ resource, texts, selection }: Page): Command[] {
  if (selection.count === 0) return []
  const copies = Object.entries(formats).map(
    ([format, write]): Command => ({
      name: `copy-${format}`,
      group: 'selection',
      icon: IconCopy,
      label: texts.palette.copySelection(format),
      copies: () => write(resource, selection.items()),
    }),
  )
  return [
    ...(isSecureContext ? copies : []),
    {
      name: 'clear-selection',
      group: 'selection',
      icon: IconX,
      label: texts.list.clearSelection,
      run: selection.clear,
    },
  ]
}

function useActions(page: Page): Command[] {
  const { resource, texts, queries, view, open } = page
  const refresh = useRefresh(queries)
  const { item } = view
  // The first call of an item is not deprecated.
  const call = () => (item === undefined ? listCall(page) : (itemCalls(page, item)[0] ?? listCall(page)))
  const copyCurl: Command = {
    name: 'curl',
    group: 'actions',
    icon: IconCopy,
    label: texts.palette.curl,
    copies: () => curlText(call(), { url: serviceUrl() }),
  }
  return [
    {
      name: 'add',
      group: 'actions',
      icon: IconPlus,
      label: texts.add.title,
      shortcut: 'add',
      run: () => open({ kind: 'add' }),
    },
    {
      name: 'import',
      group: 'actions',
      icon: IconTablePlus,
      label: messages.bulk.title(resource),
      run: () => open({ kind: 'import' }),
    },
    {
      name: 'export',
      group: 'actions',
      icon: IconDownload,
      label: messages.export.title(resource),
      run: () => open({ kind: 'export' }),
    },
    {
      name: 'request',
      group: 'actions',
      icon: IconCode,
      label: messages.request.open,
      run: () => open({ kind: 'request', calls: [call()] }),
    },
    // Browsers allow it only on secure pages.
    ...(isSecureContext ? [copyCurl] : []),
    { name: 'refresh', group: 'actions', icon: IconRefresh, label: texts.list.refresh, run: refresh },
  ]
}

function viewCommands({ resource, texts, view, list, turnTo }: Page): Command[] {
  const { filter, search, order, cursor, size, before } = view
  const { all, first, newestFirst, nextPage, oldestFirst, previousPage, showAll } = texts.list
  const isNewestFirst = search === undefined && order === 'newest'
  const commands: (Omit<Command, 'group'> | false)[] = [
    ...resource.fields
      .filter(({ isFilter }) => isFilter)
      .flatMap((field) =>
        [undefined, ...Object.keys(field.choices ?? {})].map((choice) => ({
          name: `filter-${field.name}-${choice}`,
          icon: IconFilter,
          label: texts.palette.filter(field.label, choice === undefined ? all : (field.choices?.[choice] ?? '')),
          run: () => turnTo({ filter: { ...filter, [field.name]: parseChoice(field, choice ?? null) } }),
        })),
      ),
    (entriesOf(filter).length > 0 || search !== undefined || order !== undefined) && {
      name: 'everything',
      icon: IconFilterOff,
      label: showAll,
      run: () => turnTo(everything),
    },
    cursor > 0n && { name: 'first', icon: IconChevronLeftPipe, label: first, run: () => turnTo({}) },
    list.next !== undefined && {
      name: 'next',
      icon: IconChevronRight,
      label: nextPage,
      shortcut: 'nextPage',
      run: () => press('nextPage'),
    },
    cursor > 0n && {
      name: 'previous',
      icon: IconChevronLeft,
      label: previousPage,
      shortcut: 'previousPage',
      run: () => press('previousPage'),
    },
    isSearchable(resource) && {
      name: 'order',
      icon: IconArrowsSort,
      label: isNewestFirst ? oldestFirst : newestFirst,
      run: () => turnTo({ search: undefined, order: isNewestFirst ? undefined : 'newest' }),
    },
    ...pageSizes
      .filter((each) => each !== size)
      .map((each) => ({
        name: `size-${each}`,
        icon: IconList,
        label: texts.palette.pageSize(each),
        // The page starts with the same item afterwards.
        run() {
          rememberSize(each)
          turnTo({ cursor, before, size: each })
        },
      })),
  ]
  return commands.filter((each) => each !== false).map((each) => ({ ...each, group: 'view' }))
}
