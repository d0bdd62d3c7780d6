import { loadLater } from '../../components/load-later.tsx'
import type { Dialog } from '../navigation.ts'
import type { Done } from '../notice/edit-outcome.tsx'

// They are loaded in this order.
const Help = loadLater(async () => (await import('./help.tsx')).Help)
const EditMany = loadLater(async () => (await import('../../bulk/edits/edit-many.tsx')).EditMany)
const BulkAdd = loadLater(async () => (await import('../../bulk/bulk-add.tsx')).BulkAdd)
const ExportSheet = loadLater(async () => (await import('../../bulk/export-sheet.tsx')).ExportSheet)

interface OpenDialogProps {
  dialog: Dialog
  onClose: () => void
  onDone: (done: Done) => void
}

/** The dialog above the page. */
export function OpenDialog({ dialog, ...actions }: OpenDialogProps) {
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
