import { goBack, navigateBelowDialogs } from '../browser-history.ts'
import { focusPanel } from '../components/focus.ts'
import type { Problem } from '../problem.ts'
import type { Edit, Item, Resource } from '../resource.ts'
import { firstPage, type Place, readView, rememberFilter, show } from './view.ts'

/** A dialog above the page. */
export type Dialog = { kind: 'import'; file?: File } | { kind: 'export' } | { kind: 'help' } | EditManyDialog

/** Changes or removes many items, or adds them again. */
export interface EditManyDialog {
  kind: 'editMany'
  /** One for each item: all set the same fields, or remove the items. */
  edits: Edit[]
  /** The number of items that have the values already. */
  same: number
  /** Whether they give the items their former values. */
  isUndo?: boolean
  /** Whether it asks no question, and shows itself only if it takes long, or not all items were changed. */
  startsAtOnce?: boolean
  /** What is said if there is nothing to send. */
  unchanged?: string
  /** What became of the edits before a reload of the page, or before the API key was rejected. */
  progress?: EditsProgress
}

/** What became of edits of many items, by their idempotency keys. */
export interface EditsProgress {
  /** A problem, or undefined for a success. */
  outcomes: Map<string, Problem | undefined>
  /** The edits that the service may have read. */
  sent: Set<string>
  /** The items that were added again, and the edits whose item had been before. */
  added: { items: Item[]; before: Set<string> }
  /** Whether they were sent with another API key, to which their idempotency keys belong. */
  isOfOtherKey?: true
}

/**
 * What is above the list. An item, the form for a new one and the changes are a panel beside it, which the URL contains. The
 * others are dialogs above both.
 */
type Overlay = { kind: 'item'; id: bigint } | { kind: 'add' } | { kind: 'changes' } | Dialog

/** The functions that lead to what the page of a resource shows. */
export function navigationOf(resource: Resource, openDialog: (dialog: Dialog) => void) {
  /**
   * Opens an overlay. A panel replaces the one that is open, also in the history, except that an item is above the changes.
   * With a place, the list shows another part of it, and going back leads to the former one.
   */
  function open(overlay: Overlay, place?: Partial<Place>) {
    const { kind } = overlay
    if (kind !== 'item' && kind !== 'add' && kind !== 'changes') return openDialog(overlay)
    navigateBelowDialogs(() => {
      const current = readView(resource)
      const isAdding = kind === 'add'
      const item = kind === 'item' ? overlay.id : isAdding ? current.item : undefined
      const changes = current.changes ?? (kind === 'changes' ? { changes: 'all' } : undefined)
      const hasItem = current.isAdding || current.item !== undefined
      if (kind === 'changes' && current.changes && hasItem) return closePanel()
      if (isAdding === current.isAdding && item === current.item && changes === current.changes && !place)
        return kind === 'item' ? undefined : focusPanel()
      const isAboveChanges = kind === 'item' && current.changes && !hasItem
      const hasPanel = (hasItem || current.changes !== undefined) && !isAboveChanges
      const isOverList = !place && (current.isOverList || !hasPanel)
      const replace = !place && !isAboveChanges && (hasPanel || current.isOverList)
      show(resource, { ...current, ...place, item, isAdding, changes, isOverList }, { replace })
    })
  }

  function closePanel() {
    navigateBelowDialogs(() => {
      const current = readView(resource)
      const { isAdding, item, changes } = current
      if (isAdding && (item !== undefined || changes))
        show(resource, { ...current, isAdding: false }, { replace: true })
      else if (current.isOverList) goBack()
      else {
        const below = item === undefined ? undefined : changes
        show(resource, { ...current, item: undefined, isAdding: false, changes: below }, { replace: true })
      }
    })
  }

  /** Shows what is below the form, if it is still open. It does not go back, because the user may do that meanwhile. */
  function closeForm() {
    navigateBelowDialogs(() => {
      const current = readView(resource)
      if (current.isAdding) show(resource, { ...current, isAdding: false }, { replace: true })
    })
  }

  /** Shows another part of the list, by default the start of this one. The panel stays open. */
  function turnTo(place: Partial<Place>, { replace = false } = {}) {
    navigateBelowDialogs(() => {
      show(resource, { ...readView(resource), ...firstPage, ...place, isOverList: false }, { replace })
      if ('filter' in place || 'order' in place) rememberFilter(resource)
    })
  }

  return { open, closePanel, closeForm, turnTo }
}

export type Navigation = ReturnType<typeof navigationOf>
