import './page.css'
import { useDocumentTitle } from '@mantine/hooks'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { IconDownload, IconTablePlus } from '../components/icons.tsx'
import { loadLater, PanelSheet } from '../components/load-later.tsx'
import { Header } from '../header/header.tsx'
import { useShortcuts } from '../keyboard.ts'
import { Requests } from '../requests/open-requests.tsx'
import type { Resource } from '../resource.ts'
import type { SignOutScope } from '../session.ts'
import { messages } from '../texts/messages.ts'
import { FilterChips } from './list/filter-chips.tsx'
import { List, SelectionBar } from './list/list.tsx'
import { foundOf, partOf, totalOf } from './queries.ts'
import { Tool, Tools } from './tools.tsx'
import { useFileDrop } from './use-file-drop.ts'
import { PageProvider, usePage, usePageState } from './use-page.ts'
import { everything } from './view.ts'

const ItemPanel = loadLater(async () => (await import('./item/item-panel.tsx')).ItemPanel)
const AddItem = loadLater(async () => (await import('./item/add-item.tsx')).AddItem)
const BulkAdd = loadLater(async () => (await import('../bulk/bulk-add.tsx')).BulkAdd)
const ExportSheet = loadLater(async () => (await import('../bulk/export-sheet.tsx')).ExportSheet)
const Help = loadLater(async () => (await import('../components/help.tsx')).Help)

interface ResourcePageProps {
  resource: Resource
  /** The picture of an empty list. */
  icon: ReactNode
  onSignOut: (scope: SignOutScope) => void
}

/** The list of a resource, its items, and everything that can be done with them. */
export function ResourcePage({ resource, icon, onSignOut }: ResourcePageProps) {
  const page = usePageState(resource, icon)
  const { texts, view, list, item, selection, added, refs, panel, open, move, extend, focusedId } = page
  const title = resource.title
  const shown = typeof item.data?.[title] === 'string' ? item.data[title].trim() : ''
  useDocumentTitle(messages.page.title(shown || texts.list.title(partOf(resource, view.filter))))
  useOverlaysInAdvance(list.isSuccess)
  // It then stays, with what the user has entered.
  const [isFormUsed, setIsFormUsed] = useState(false)
  if (panel?.kind === 'add' && !isFormUsed) setIsFormUsed(true)
  const { heading } = refs
  // The sign-in form, which had the focus, is gone.
  useEffect(() => heading.current?.focus(), [heading])

  // An open import takes the file itself. Another sheet may run a job.
  useFileDrop((file) => page.sheet || open({ kind: 'import', file }))

  useShortcuts({
    add: () => open({ kind: 'add' }),
    help: () => open({ kind: 'help' }),
    nextItem: () => move(1),
    previousItem: () => move(-1),
    selectItem() {
      const focused = list.items?.find(({ id }) => id === focusedId())
      if (focused) selection.toggle(focused)
    },
    selectNext: () => extend(1),
    selectPrevious: () => extend(-1),
    // The key closes the panel first.
    ...(selection.count > 0 && !panel && { close: selection.clear }),
  })

  return (
    <PageProvider value={page}>
      <Header list={messages.page.list(resource)} onHelp={() => open({ kind: 'help' })} onSignOut={onSignOut} />
      <main className="page">
        <div className="tool-line">
          <h1 ref={heading} tabIndex={-1}>
            {texts.list.title(undefined)}
          </h1>
          <div className="filters">
            {resource.fields
              .filter(({ isFilter }) => isFilter)
              .map((field) => (
                <FilterChips key={field.name} field={field} />
              ))}
          </div>
          <Tools>
            <Tool label={messages.export.open} icon={<IconDownload />} onClick={() => open({ kind: 'export' })} />
            <Tool label={messages.bulk.open} icon={<IconTablePlus />} onClick={() => open({ kind: 'import' })} />
          </Tools>
        </div>
        <span className="visually-hidden" role="status">
          {/* The open form announces it itself. */}
          {added[0] && panel?.kind !== 'add' && texts.add.added(String(added[0][title]), added[0].id)}
        </span>
        <div className="workspace" data-with-panel={panel !== undefined || undefined}>
          <List />
          <Suspense>
            {isFormUsed && <AddItem isOpen={panel?.kind === 'add'} onClose={page.closePanel} />}
            {panel?.kind === 'item' && <ItemPanel id={panel.id} onClose={page.closePanel} />}
          </Suspense>
        </div>
        <Suspense>
          <Sheet />
        </Suspense>
      </main>
    </PageProvider>
  )
}

function Sheet() {
  const { resource, view, list, counts, sheet, turnTo, closeSheet: onClose } = usePage()
  switch (sheet?.kind) {
    case 'import': {
      return (
        <BulkAdd
          resource={resource}
          dropped={sheet.file}
          onClose={onClose}
          onShow={(id) => turnTo({ ...everything, cursor: id - 1n })}
        />
      )
    }
    case 'export': {
      const { filter, search } = view
      const total = search === undefined ? totalOf(resource, counts, filter) : foundOf(list, view)
      const part = partOf(resource, filter)
      return (
        <ExportSheet
          {...{ resource, filter, search: search && list.items ? list.data?.search : search, part, total, onClose }}
        />
      )
    }
    case 'help':
      return <Help noun={resource} onClose={onClose} />
    default:
      return null
  }
}

/** Loads the overlays once the list is loaded, so that they open at once, also if the service is away by then. */
function useOverlaysInAdvance(isListLoaded: boolean): void {
  useEffect(() => {
    if (isListLoaded) void preloadOverlays()
  }, [isListLoaded])
}

/** One after the other, so that the first ones do not wait for the large ones. */
async function preloadOverlays(): Promise<void> {
  for (const each of [ItemPanel, AddItem, PanelSheet, SelectionBar, Requests, Help, BulkAdd, ExportSheet]) {
    await each.preload()
  }
}
