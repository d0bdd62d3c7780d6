import { countOf, number } from '../../formats.ts'
import { editManyDrafts } from '../../resource/drafts.ts'
import { headingOf } from '../../resource/item/edit-text.tsx'
import { additionOf } from '../../resource/item/history.ts'
import type { EditManyDialog } from '../../resource/navigation.ts'
import type { Done } from '../../resource/notice/edit-outcome.tsx'
import { useList, useResource } from '../../resource/page-context.ts'
import { isIncluded } from '../../resource/paged-list.ts'
import { neighborOf } from '../../resource/use-shown-list.ts'
import type { Item } from '../../resource.ts'
import { letAddAgain } from '../use-add-rows.ts'
import { textsOfMany } from './many-text.ts'
import type { useEditMany } from './use-edit-many.ts'

export interface EditManyProps extends EditManyDialog {
  onClose: () => void
  /** Called with the edits that are saved. */
  onDone: (result: Omit<Done, 'at'>) => void
}

/** What edits of many items have done so far, and what the user can do about it. */
export function useResult({ onClose, onDone, ...dialog }: EditManyProps, job: ReturnType<typeof useEditMany>) {
  const { edits, same, isUndo = false, unchanged } = dialog
  const { left, unconfirmed, failed, done, added } = job
  const { resource, open } = useResource()
  const { selection, view } = useList()
  const { set, isAddition = false, undoes } = edits[0] ?? {}
  const { isOfOtherKey = false } = dialog.progress ?? {}
  const canUndo = set !== undefined && undoes === undefined && !isOfOtherKey
  const isRemoval = !set && !isAddition
  const saved = [...done, ...unconfirmed]
  const addAgainText = `Add all ${number(done.length)} again`
  const texts = textsOfMany(resource, dialog)
  const text = texts.results(done.length, failed.length, unconfirmed.length, left.length - unconfirmed.length)

  /** What was changed stays selected for the next change, unless it has left the filter, or a part of it was not changed. */
  function close() {
    editManyDrafts.delete(resource.many)
    if (edits.length === 0)
      return onDone({
        text: unchanged ?? `${countOf(resource, same)} already ${same === 1 ? 'has' : 'have'} this value.`,
        edits,
      })
    // An item that is gone cannot be changed later either.
    const [gone, kept] = [true, false].map((isGone) =>
      failed.filter(({ problem }) => (problem.kind === 'missing') === isGone).map(({ edit }) => edit.seen),
    )
    selection.remove(gone ?? [])
    if (saved.length === 0) return onClose()
    if (isUndo && isRemoval) letAddAgain(resource, done)
    const rest = [...left.map(({ seen }) => seen), ...(kept ?? [])]
    const changed = done.map(({ seen, set }) => ({ ...seen, ...set }))
    const stay = changed.filter((item) => set && selection.has(item.id) && isIncluded(view.filter, item))
    const showsRest = rest.length > 0 && !isUndo && !isAddition
    if (showsRest) selection.clear()
    else selection.remove(changed)
    selection.add(showsRest ? rest : stay)
    const [only, ...others] = added.items.map(({ id, ...item }) => ({ id, name: headingOf(resource, id, item) }))
    const link = others.length === 0 ? only : undefined
    onDone({
      text: unconfirmed.length > 0 ? `${text}.` : texts.done(done.length, link?.name, added.before.size),
      edits: saved,
      focus: itemAfter,
      ...(link && { link }),
      firstId: link ? undefined : only?.id,
      ...(canUndo && { onUndo: undo }),
      ...(!isUndo && isRemoval && done.length > 0 && { onUndo: addDoneAgain, undoLabel: addAgainText }),
    })
  }
  /** The first item that was changed or added, or the one after those that were removed or have left the filter. */
  function itemAfter(items: Item[]): bigint | undefined {
    if (isAddition) return items.find(({ id }) => added.items.some((item) => item.id === id))?.id
    const first = done[0]?.seen
    if (first && set && isIncluded(view.filter, { ...first, ...set })) return first.id
    const gone = new Set(done.map(({ seen }) => seen.id))
    const left = items.filter(({ id }) => !gone.has(id))
    return neighborOf(left, { ...view, search: undefined }, first?.id, 1) ?? left.at(-1)?.id
  }
  function undo(asks = false) {
    open({ kind: 'editMany', edits: job.reversed(), same: 0, isUndo: true, startsAtOnce: !asks })
  }
  function addDoneAgain(asks = false) {
    const removed = done.map(({ seen }) => seen)
    open({ ...additionOf(resource, removed), startsAtOnce: !asks })
  }
  /** Changes also the items that somebody else has changed. A removal asks again, because they may be others than before. */
  async function insist() {
    const edits = await job.loadConflicts()
    close()
    if (edits.length > 0) open({ kind: 'editMany', edits, same: 0, startsAtOnce: !isRemoval })
  }

  return {
    texts,
    /** What became of the edits, in numbers. */
    text,
    isRemoval,
    isOfOtherKey,
    close,
    undo: canUndo && saved.length > 0 ? undo : undefined,
    addAgain: isRemoval && done.length > 0 ? { text: addAgainText, run: addDoneAgain } : undefined,
    insist: job.conflicts.length > 0 && !isUndo ? insist : undefined,
  }
}
