import { Button } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import type { Item } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { shownText } from '../../texts/formats.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { headingOf } from './edit-text.tsx'
import { additionOf, formerOf, type ItemChange, isAddedAgain, namesIn } from './history.ts'

interface ReversalProps {
  changes: ItemChange[]
  /** The changed item, if there is only one. */
  item?: Item | undefined
  /** Whether nothing is left to be changed back. */
  isBack?: boolean | undefined
  isDisabled?: boolean
}

/** The button that adds removed items again, or changes others back, and then the result. */
export function Reversal({ changes, item, isBack = false, isDisabled = false }: ReversalProps) {
  const { resource, open } = useResource()
  const { edit } = useList()
  const { canEdit } = useAccess()
  const { changes: texts, many } = editTextsOf(resource)
  const [first] = changes
  if (!first) return null
  const { itemId, kind, before } = first
  const names = namesIn(first)
  const isRemoval = kind === 'remove'
  const addition = additionOf(
    resource,
    changes.map(({ itemId, before }) => ({ ...before, id: itemId })),
  )
  const values = resource.fields
    .filter(({ name }) => names.includes(name))
    .map((field): [string, string] => {
      const [former, ...others] = new Set(changes.map((change) => shownText(field, change.before[field.name])))
      return [field.label, others.length > 0 ? texts.formerValues : former || texts.empty]
    })
  function reverse() {
    if (isRemoval) return open(addition)
    const edits = changes.map((change) => formerOf(resource, change, item))
    const [only, ...others] = edits
    if (only?.set && others.length === 0) edit(only.seen, only.set)
    else open({ kind: 'editMany', edits, same: 0, isUndo: true, startsAtOnce: true })
  }
  if (isRemoval ? addition.edits.every(isAddedAgain) : isBack && values.length > 0)
    return <p className="changes-by">{isRemoval ? texts.addedAgain : texts.changedBack}</p>
  if (!isRemoval && (!canEdit || values.length === 0)) return null
  const [one, all] = isRemoval ? [texts.addAgain, many.addAgain] : [texts.changeBack, many.changeBack]
  const others = changes.length - 1
  const text = others === 0 ? one : all(isDisabled ? undefined : changes.length)
  const heading = headingOf(resource, itemId, item ?? before)
  const name = others === 0 ? heading : `${heading} ${many.others(others)}`
  return (
    <Button
      ref={keepFocus}
      variant="subtle"
      size="compact-sm"
      isDisabled={isDisabled}
      aria-label={texts.reversalOf(text, name, values)}
      onClick={reverse}
    >
      {text}
    </Button>
  )
}
