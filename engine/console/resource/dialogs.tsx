import { loadLater } from '../components/load-later.tsx'
import { foundOf } from './list/paged-list.ts'
import type { Dialog } from './navigation.ts'
import type { Done } from './notice/edit-outcome.tsx'
import { useCounts, useList, useResource } from './page-context.ts'
import { totalOf } from './queries.ts'
import { everything } from './view.ts'

// They are loaded in this order.
const Help = loadLater(async () => (await import('../components/help.tsx')).Help)
const EditMany = loadLater(async () => (await import('../bulk/edits/edit-many.tsx')).EditMany)
const BulkAdd = loadLater(async () => (await import('../bulk/bulk-add.tsx')).BulkAdd)
const ExportSheet = loadLater(async () => (await import('../bulk/export-sheet.tsx')).ExportSheet)

interface OpenDialogProps {
  dialog: Dialog
  onClose: () => void
  onDone: (done: Done) => void
}

/** The dialog above the page. */
export function OpenDialog({ dialog, onClose, onDone }: OpenDialogProps) {
  const { resource, turnTo } = useResource()
  const { view, list } = useList()
  const counts = useCounts()
  if (dialog.kind === 'help') return <Help onClose={onClose} />
  if (dialog.kind === 'import') {
    const onShow = (id: bigint) => turnTo({ ...everything, cursor: id - 1n })
    return <BulkAdd resource={resource} dropped={dialog.file} onClose={onClose} onShow={onShow} onDone={onDone} />
  }
  if (dialog.kind === 'editMany') {
    function finish(result: Omit<Done, 'at'>) {
      onClose()
      onDone({ ...result, at: Date.now() })
    }
    return <EditMany key={dialog.edits[0]?.idempotencyKey} {...dialog} onClose={onClose} onDone={finish} />
  }
  const { filter, search } = view
  return (
    <ExportSheet
      resource={resource}
      filter={filter}
      search={search}
      total={list.isScanned ? foundOf(list, view) : totalOf(resource, counts, filter)}
      onClose={onClose}
    />
  )
}
