import './page.css'
import { useDocumentTitle } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { useClient } from '../../client.ts'
import { titleOfPage } from '../../components/focus.ts'
import { loadLater, preload } from '../../components/load-later.tsx'
import { capitalized } from '../../formats.ts'
import { Header } from '../../header/header.tsx'
import type { Resource } from '../../resource.ts'
import { product } from '../../service.ts'
import type { SignOutScope } from '../../session.ts'
import { useAccess } from '../access.ts'
import { editManyDrafts, importDrafts } from '../drafts.ts'
import { editsOf } from '../edits.ts'
import { useNewItem } from '../item/new-item.ts'
import { FilterChips } from '../list/filter-chips.tsx'
import { List } from '../list/list.tsx'
import { type Dialog, navigationOf } from '../navigation.ts'
import type { Done } from '../notice/edit-outcome.tsx'
import { ListProvider, ResourceProvider, useList, useResource } from '../page-context.ts'
import { listTitleOf, queriesOf } from '../queries.ts'
import { useShownList } from '../use-shown-list.ts'
import { Tools } from './tools.tsx'
import { usePageShortcuts } from './use-page-shortcuts.ts'

// They are loaded in this order.
const SkipLink = loadLater(async () => (await import('../../header/account.tsx')).SkipLink)
const EditNotice = loadLater(async () => (await import('../notice/edit-notice.tsx')).EditNotice)
const ItemPanel = loadLater(async () => (await import('../item/item-panel.tsx')).ItemPanel)
const AddItem = loadLater(async () => (await import('../item/add-item.tsx')).AddItem)
const OtherFilters = loadLater(async () => (await import('../list/other-filters.tsx')).OtherFilters)
const Changes = loadLater(async () => (await import('../item/changes.tsx')).Changes)
const Help = loadLater(async () => (await import('./help.tsx')).Help)
const EditMany = loadLater(async () => (await import('../../bulk/edits/edit-many.tsx')).EditMany)
const BulkAdd = loadLater(async () => (await import('../../bulk/bulk-add.tsx')).BulkAdd)
const FileDrop = loadLater(async () => (await import('./file-drop.ts')).FileDrop)
const ExportSheet = loadLater(async () => (await import('../../bulk/export-sheet.tsx')).ExportSheet)

interface ResourcePageProps {
  resource: Resource
  /** The picture of an empty list. */
  icon: ReactNode
  onSignOut: (scope: SignOutScope) => void
}

/** The list of a resource, its items, and everything that can be done with them. */
export function ResourcePage({ resource, icon, onSignOut }: ResourcePageProps) {
  const client = useClient()
  const queryClient = useQueryClient()
  // The draft of a session whose key was rejected continues. What a reload has stopped waits for the user.
  const [dialog, setDialog] = useState<Dialog | undefined>(() =>
    importDrafts.get(resource.many)?.isOpen ? { kind: 'import' } : editManyDrafts.get(resource.many),
  )
  const page = useMemo(() => {
    const edits = editsOf(resource, client, queryClient)
    return { resource, icon, queries: queriesOf(resource, client), edits, ...navigationOf(resource, setDialog) }
  }, [resource, icon, client, queryClient])
  const shown = useShownList(resource, page)
  useEffect(() => page.edits.resume(), [page])
  return (
    <ResourceProvider value={page}>
      <ListProvider value={shown}>
        <Page dialog={dialog} onCloseDialog={() => setDialog(undefined)} onSignOut={onSignOut} />
      </ListProvider>
    </ResourceProvider>
  )
}

interface PageProps extends Pick<ResourcePageProps, 'onSignOut'> {
  dialog: Dialog | undefined
  onCloseDialog: () => void
}

function Page({ dialog, onCloseDialog, onSignOut }: PageProps) {
  const { resource, open, closePanel } = useResource()
  const { view, list, item } = useList()
  const [done, setDone] = useState<Done>()
  const [noticeClosedAt, setNoticeClosedAt] = useState(() => Date.now())
  const { isReadOnly, hasHistory } = useAccess()
  const newItem = useNewItem(resource)
  const { title, fields } = resource
  /** The edits of many items that are open in a dialog, or else the last ones that were saved, and the latest additions. */
  const ownEdits = [...(dialog?.kind === 'editMany' ? dialog.edits : (done?.edits ?? [])), ...newItem.added]
  const shown = typeof item.data?.[title] === 'string' ? item.data[title].trim() : ''
  const listed = listTitleOf(resource, view.filter)
  const found = view.search === undefined ? listed : `“${view.search.trim()}” · ${listed}`
  useDocumentTitle(`${shown || found} · ${product().name}`)
  useEffect(() => {
    if (list.isSuccess) void preload()
  }, [list.isSuccess])
  // It offers what this dialog may have done by the end. After a question, the user may cancel.
  useEffect(() => {
    if (dialog?.kind === 'editMany' && dialog.startsAtOnce) setNoticeClosedAt(Date.now())
  }, [dialog])
  // The sign-in form, which had the focus, is gone.
  useEffect(() => titleOfPage()?.focus(), [])

  const isAdding = view.isAdding && !isReadOnly
  const hasItem = isAdding || view.item !== undefined
  const hasPanel = hasItem || view.changes !== undefined
  usePageShortcuts(hasPanel)

  return (
    <>
      <Header shown={resource} onHelp={() => open({ kind: 'help' })} onSignOut={onSignOut} />
      <main className="page">
        <div className="tool-line">
          <h1 tabIndex={-1}>{capitalized(resource.many)}</h1>
          {list.isSuccess && <SkipLink noun={resource} />}
          <div className="filters">
            {fields
              .filter(({ isFilter }) => isFilter)
              .map((field) => (
                <FilterChips key={field.name} field={field} />
              ))}
            {list.isScanned && <OtherFilters />}
          </div>
          <Tools />
        </div>
        <div className="workspace" data-with-panel={hasPanel || undefined} data-with-changes={hasHistory || undefined}>
          <List newItem={newItem} ownEdits={ownEdits} isImporting={dialog?.kind === 'import'} />
          {(view.changes || list.isSuccess) && hasHistory && <Changes isBelow={hasItem} onClose={closePanel} />}
          {isAdding && <AddItem newItem={newItem} onClose={closePanel} />}
          {view.item !== undefined && !isAdding && <ItemPanel id={view.item} onClose={closePanel} />}
        </div>
        {dialog && <OpenDialog dialog={dialog} onClose={onCloseDialog} onDone={setDone} />}
        {list.isSuccess && (
          <EditNotice
            newItem={newItem}
            done={done}
            onDone={setDone}
            closedAt={noticeClosedAt}
            onClose={() => setNoticeClosedAt(Date.now())}
          />
        )}
        {/* Another dialog may run a job. */}
        {list.isSuccess && (
          <FileDrop onDrop={(file) => (dialog && dialog.kind !== 'import') || open({ kind: 'import', file })} />
        )}
      </main>
    </>
  )
}

interface OpenDialogProps {
  dialog: Dialog
  onClose: () => void
  onDone: (done: Done) => void
}

/** The dialog above the page. */
function OpenDialog({ dialog, ...actions }: OpenDialogProps) {
  const { onClose, onDone } = actions
  if (dialog.kind === 'help') return <Help {...actions} />
  if (dialog.kind === 'import') return <BulkAdd dropped={dialog.file} {...actions} />
  if (dialog.kind === 'export') return <ExportSheet {...actions} />
  function finish(result: Omit<Done, 'at'>) {
    onClose()
    onDone({ ...result, at: Date.now() })
  }
  return <EditMany key={dialog.edits[0]?.idempotencyKey} {...dialog} onClose={onClose} onDone={finish} />
}
