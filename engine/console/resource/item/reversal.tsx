import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { number, shownText } from '../../formats.ts'
import type { Item } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { addedAgain } from '../drafts.ts'
import { together } from '../edit-key.ts'
import { useList, useResource } from '../page-context.ts'
import { headingOf, useItemLink } from './edit-text.tsx'
import { additionOf, formerOf, isAddedAgain } from './history.ts'
import { isNewClick } from './new-click.ts'
import { changedFields, type ItemChange } from './undone.ts'

interface ReversalProps {
  changes: ItemChange[]
  /** The changed item, if there is only one. */
  item?: Item | undefined
  /** Whether the item has its former values, also before the history says so. */
  isBack?: boolean | undefined
  /** Whether the button is what the user most probably wants. */
  isMain?: boolean
}

/** The button that adds removed items again, or changes others back, and then the result, or the button that undoes that. */
export function Reversal({ changes, item, isBack = false, isMain = false }: ReversalProps) {
  const { resource, queries, open } = useResource()
  const linkTo = useItemLink()
  const { list, edit } = useList()
  const { canEdit } = useAccess()
  const undos = changes.flatMap(({ undo }) => undo ?? [])
  const isAgain = undos.length === changes.length
  const left = (isAgain ? undos : changes).filter(({ next }) => !next)
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
      return [field.label, others.length > 0 ? 'what they were' : former || 'nothing']
    })
  function reverse() {
    if (isRemoval) return open(addition)
    const namedBy = ({ itemId: id, title }: ItemChange) => ({ id, [resource.title]: title })
    const former = left.map((change) => formerOf(resource, change, (left.length === 1 && known) || namedBy(change)))
    const edits = together(former)
    const [only, ...others] = edits
    if (only?.set && others.length === 0) edit(only.seen, only.set, only)
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
        Added again
        {only && others.length === 0 && (
          <>
            {' '}
            as{' '}
            <a translate="no" {...linkTo(only)}>
              {headingOf(resource, only, before)}
            </a>
          </>
        )}
      </p>
    )
  }
  if (!isRemoval && (!canEdit || values.length === 0)) return null
  if (isAgain && left.length === 0) return null
  const isUndone = changes.every((change) => change.isUndone)
  if (isBack || left.length === 0)
    return <p className="changes-by">{isBack || isUndone ? 'Changed back' : 'Changed since'}</p>
  const others = left.length - 1
  const again = isAgain ? 'again' : 'back'
  const one = isRemoval ? 'Add again' : `Change ${again}`
  const all = isRemoval
    ? `Add all ${number(left.length)} again`
    : `Change ${others + 1 === changes.length ? 'all ' : ''}${number(left.length)} ${again}`
  const text = changes.length === 1 ? one : all
  const heading = headingOf(resource, itemId, known ?? { [resource.title]: title })
  const becoming = values.map(([label, value]) => `${label.toLowerCase()} to ${value}`)
  const name = others === 0 ? heading : `${heading} and ${number(others)} more`
  return (
    <Button
      ref={keepFocus}
      {...(isMain ? { variant: 'filled', size: 'xs' } : { variant: 'subtle', size: 'compact-sm' })}
      aria-label={`${text}: ${[name, ...becoming].join(', ')}`}
      // The button for the opposite follows.
      onClick={(event) => isNewClick(event) && reverse()}
    >
      {text}
    </Button>
  )
}
