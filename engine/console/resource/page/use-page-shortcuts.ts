import { editButtonIdOf } from '../../components/focus.ts'
import { useShortcuts } from '../../components/keyboard.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'

/**
 * Handles the keys that change items, select them and move between them.
 *
 * @param hasPanel whether a panel is open, which Escape closes before it clears the selection
 */
export function usePageShortcuts(hasPanel: boolean): void {
  const { resource, open } = useResource()
  const { view, selection, move, extend, current, target, openMenu, openToEdit, remove, removeSelected } = useList()
  const { isReadOnly, canEdit, canRemove } = useAccess()

  /** Opens the menu of the first field with choices, or moves the focus to its choices in the panel. */
  function choose() {
    const field = resource.entered.find(({ choices }) => choices)
    const changed = target()
    if (!field || !changed) return
    const id = changed === 'selection' ? changed : changed.id
    const choices = document.querySelector<HTMLElement>(`[data-choices="${field.name}"] [aria-pressed="true"]`)
    if (choices && id === view.item) choices.focus()
    else openMenu({ id, field })
  }

  /** Edits the title in the panel. */
  function edit() {
    const id = current()?.id
    if (id === undefined) return
    const button = id === view.item && document.getElementById(editButtonIdOf(resource.title))
    if (button) button.click()
    else openToEdit(id)
  }

  function removeTarget() {
    const removed = target()
    if (removed === 'selection') removeSelected()
    else if (removed) remove(removed)
  }

  function selectItem() {
    const item = current()
    if (item) selection.toggle(item)
  }

  useShortcuts({
    ...(!isReadOnly && { add: () => open({ kind: 'add' }) }),
    ...(canEdit && { choose, edit }),
    ...(canRemove && { remove: removeTarget }),
    help: () => open({ kind: 'help' }),
    nextItem: () => move(1),
    previousItem: () => move(-1),
    selectItem,
    selectNext: () => extend(1),
    selectPrevious: () => extend(-1),
    ...(selection.count > 0 && !hasPanel && { close: selection.clear }),
  })
}
