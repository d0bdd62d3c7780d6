import type { EditManyDialog } from '../../resource/navigation.ts'
import type { Edit, Resource } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { shownText } from '../../texts/formats.ts'

/** The question whether many items are changed, and what is said afterwards. */
export function textsOfMany(resource: Resource, { edits, same, isUndo }: EditManyDialog) {
  const { many: texts, changes } = editTextsOf(resource)
  const { set, isAddition } = edits[0] ?? {}
  const count = edits.length
  const field = resource.fields.find(({ name }) => set && name in set)
  const { label = '', choices } = field ?? {}
  const shown = (field && shownText(field, set?.[field.name])) || changes.empty
  const value = choices ? shown.toLowerCase() : shown
  const setTitle = isUndo ? texts.undoTitle(count) : texts.title(label, value)
  const question = set ? setTitle : isAddition ? texts.addTitle(count) : texts.removeTitle(count)
  return {
    // Without the question mark: the user has decided.
    title: (hasStarted: boolean) => (hasStarted ? question.slice(0, -1) : question),
    plan: set ? texts.plan(count, same, value) : texts.removal(count),
    /**
     * @param added the heading of the only item that was added again
     * @param before the number of the items that had been added again before
     */
    done({ length }: Edit[], added: string | undefined, before: number): string {
      if (isUndo && set) return texts.undone(length)
      if (isAddition) return added ? texts.itemAddedAgain(added, before > 0) : texts.addedAgain(length, before)
      if (!set) return texts.removed(length)
      return choices ? texts.done(length, value, same) : texts.doneOf(label, length, value, same)
    },
  }
}
