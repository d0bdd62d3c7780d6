import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import type { Item } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { shownText } from '../../texts/formats.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { headingOf, useItemLink } from './edit-text.tsx'
import { addedAgain, additionOf, formerOf, type ItemChange, isAddedAgain } from './history.ts'
import { changedFields } from './undone.ts'

interface ReversalProps {
  changes: ItemChange[]
  /** The changed item, if there is only one. */
  item?: Item | undefined
  /** Whether the item has its former values, also before the history says so. */
  isBack?: boolean | undefined
}

/** The button that adds removed items again, or changes others back, and then the result. */
export function Reversal({ changes, item, isBack = false }: ReversalProps) {
  const { resource, queries, open } = useResource()
  const linkTo = useItemLink()
  const { list, edit } = useList()
  const { canEdit } = useAccess()
  const { changes: texts, many } = editTextsOf(resource)
  const left = changes.filter(({ next }) => !next)
  const first = left[0] ?? changes[0]
  const unnamed = !item && left[0]?.kind === 'update' ? left[0].itemId : undefined
  const { data } = useQuery({ ...queries.item(unnamed, useQueryClient()), refetchInterval: false })
  if (!first) return null
  const known = item ?? data
  const { itemId, kind, before, title = before[resource.title] } = first
  const names = changedFields(first)
  const isRemoval = kind === 'remove'
  const addition = additionOf(
    resource,
    changes.map(({ itemId, before }) => ({ ...before, id: itemId })),
  )
  const values = resource.fields
    .filter(({ name }) => names.includes(name))
    .map((field): [string, string] => {
      const [former, ...others] = new Set(left.map((change) => shownText(field, change.before[field.name])))
      return [field.label, others.length > 0 ? texts.formerValues : former || texts.empty]
    })
  function reverse() {
    if (isRemoval) return open(addition)
    const namedBy = ({ itemId: id, title }: ItemChange) => ({ id, [resource.title]: title })
    const edits = left.map((change) => formerOf(resource, change, (left.length === 1 && known) || namedBy(change)))
    const [only, ...others] = edits
    if (only?.set && others.length === 0) edit(only.seen, only.set, true)
    else {
      const shown = new Set(list.items?.map(({ id }) => id))
      // As for other changes of many: what the user sees needs no question.
      const startsAtOnce = edits.every(({ seen }) => shown.has(seen.id))
      open({ kind: 'editMany', edits, same: 0, isUndo: true, startsAtOnce })
    }
  }
  if (isRemoval && addition.edits.every(isAddedAgain)) {
    const [only, ...others] = addition.edits.map(({ idempotencyKey }) => addedAgain.get(idempotencyKey))
    return (
      <p className="changes-by">
        {texts.addedAgain}
        {only && others.length === 0 && (
          <>
            {' '}
            {texts.addedAs}{' '}
            <a translate="no" {...linkTo(only)}>
              {headingOf(resource, only, before)}
            </a>
          </>
        )}
      </p>
    )
  }
  if (!isRemoval && (!canEdit || values.length === 0)) return null
  const isUndone = changes.every((change) => change.isUndone)
  if (isBack || left.length === 0)
    return <p className="changes-by">{isBack || isUndone ? texts.changedBack : texts.changedSince}</p>
  const others = left.length - 1
  const one = isRemoval ? texts.addAgain : texts.changeBack
  const all = isRemoval ? many.addAgain(left.length) : many.changeBack(left.length, others + 1 === changes.length)
  const text = changes.length === 1 ? one : all
  const heading = headingOf(resource, itemId, known ?? { [resource.title]: title })
  const name = others === 0 ? heading : `${heading} ${many.others(others)}`
  return (
    <Button
      ref={keepFocus}
      variant="subtle"
      size="compact-sm"
      aria-label={texts.reversalOf(text, name, values)}
      onClick={reverse}
    >
      {text}
    </Button>
  )
}
