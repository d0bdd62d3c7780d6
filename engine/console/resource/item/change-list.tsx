import { textOf } from '#service/fields'
import './changes.css'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, useEffect, useState } from 'react'
import { useClient } from '../../client.ts'
import { Button } from '../../components/buttons.tsx'
import { Failure } from '../../components/failure.tsx'
import { keepFocus } from '../../components/focus.ts'
import { Value } from '../../components/value.tsx'
import { problemOf } from '../../problem.ts'
import { jsonOf } from '../../requests/curl.ts'
import { type Change, type Field, type Item, isSame, type Values } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { shownText } from '../../texts/formats.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOf, openHere } from '../view.ts'
import {
  additionOf,
  formerOf,
  historyOf,
  type ItemChange,
  isAddedAgain,
  isGroup,
  mayGoOn,
  togetherOf,
  undoes,
} from './history.ts'
import { useLastFailure } from './last-failure.ts'

/** How many changes are loaded by themselves to count those of a group. */
const maxCounted = 10_000

interface ChangeListProps {
  /** Also called before an item is opened, or a change is reversed. */
  onClose?: () => void
  /** The item whose changes are shown, instead of those of all items. */
  id?: bigint
  /** How many entries are shown at most, without a way to load more. */
  max?: number
}

/** The changes of an item, or of all items, the newest first. */
export function ChangeList({ id, max, ...actions }: ChangeListProps) {
  const { resource } = useResource()
  const texts = editTextsOf(resource).changes
  const query = useInfiniteQuery(historyOf(resource, useClient(), id))
  const { data, failureCount, hasNextPage, fetchNextPage, refetch } = query
  const failure = useLastFailure(query)
  const { isFetchingNextPage, isFetchNextPageError } = query
  const { data: item } = useList().item
  const isOfAll = id === undefined
  const shown = isOfAll || !item ? undefined : jsonOf(item)
  // The panel shows a change before the history does.
  useEffect(() => void (shown && refetch()), [shown, refetch])
  const changes = data?.pages.flat() ?? []
  const groups = togetherOf(changes)
  const isGoingOn = (group: Change[]) => hasNextPage && mayGoOn(group, changes)
  const isCounting =
    isOfAll && !max && changes.length < maxCounted && groups.some((group) => isGroup(group) && isGoingOn(group))
  const isLoadingOn = isCounting && !isFetchNextPageError
  useEffect(() => {
    if (isLoadingOn && !isFetchingNextPage) void fetchNextPage()
  }, [isLoadingOn, isFetchingNextPage, fetchNextPage])
  if (!data && failure) return <Failure title={texts.notLoaded} error={failure} failures={failureCount} />
  if (!data) return <div className="skeleton item-details-skeleton" role="status" aria-label={texts.loading} />
  // One level below the heading of the sheet, or of the history of the item.
  const Day = isOfAll ? 'h3' : 'h4'
  /** How many changes and removals a day has that is loaded as a whole. */
  function summaryOf(ofDay: Change[]): string {
    const removed = ofDay.filter(({ kind }) => kind === 'remove').length
    return texts.ofDay(ofDay.length - removed, removed)
  }
  const isMore = hasNextPage || groups.length > Number(max)
  const days = Map.groupBy(groups.slice(0, max), ([first]) => first && dayOf(first.at))
  return (
    <div className="changes">
      {isOfAll && !max && <p className="changes-none">{texts.note}</p>}
      {changes.length === 0 && <p className="changes-none">{isOfAll ? texts.none : texts.noneOfItem}</p>}
      {[...days].map(([day, each], index) => (
        <Fragment key={day}>
          <Day>{isOfAll && !(isMore && index === days.size - 1) ? `${day} · ${summaryOf(each.flat())}` : day}</Day>
          <ol>
            {each.map((group) => (
              <Entries
                key={String(group[0]?.id)}
                changes={group}
                isOfAll={isOfAll}
                isWhole={!isGoingOn(group)}
                isCounted={!max}
                isBack={groups.slice(0, groups.indexOf(group)).some((later) => undoes(later, group))}
                {...actions}
              />
            ))}
          </ol>
        </Fragment>
      ))}
      <span className="visually-hidden" role="status">
        {data.pages.length > 1 && !isLoadingOn && texts.shown(changes.length)}
      </span>
      {hasNextPage && !max && (
        <Button
          ref={keepFocus}
          variant="default"
          size="xs"
          isDisabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {texts.more}
        </Button>
      )}
    </div>
  )
}

const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
const hours = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })

/** The day in the time zone of the browser, such as `Today`. */
function dayOf(time: Date): string {
  const day = days.format(time)
  const now = Date.now()
  if (day === days.format(now)) return 'Today'
  return day === days.format(now - 86_400_000) ? 'Yesterday' : day
}

interface ReversalProps {
  changes: ItemChange[]
  /** The name of the changed item, if there is only one. */
  name?: string
  /** The changed item, if there is only one. */
  item?: Item | undefined
  isDisabled: boolean
  onClose: (() => void) | undefined
}

/** The button that adds removed items again, or changes others back. */
export function Reversal({ changes, name, item, isDisabled, onClose }: ReversalProps) {
  const { resource, open } = useResource()
  const { edit } = useList()
  const { canEdit } = useAccess()
  const { changes: texts, many } = editTextsOf(resource)
  const isRemoval = changes[0]?.kind === 'remove'
  const addition = additionOf(
    resource,
    changes.map(({ itemId, before }) => ({ ...before, id: itemId })),
  )
  function reverse() {
    onClose?.()
    if (isRemoval) return open(addition)
    const edits = changes.map((change) => formerOf(resource, change, item))
    const [only, ...others] = edits
    if (only?.set && others.length === 0) edit(only.seen, only.set)
    else open({ kind: 'editMany', edits, same: 0, isUndo: true, startsAtOnce: true })
  }
  if (isRemoval && addition.edits.every(isAddedAgain)) return <p className="changes-by">{texts.addedAgain}</p>
  if (!isRemoval && !canEdit) return null
  const [one, all] = isRemoval ? [texts.addAgain, many.addAgain] : [texts.changeBack, many.changeBack]
  const text = changes.length === 1 ? one : all(isDisabled ? undefined : changes.length)
  const { before = {}, after = {} } = changes[0] ?? {}
  const values = resource.fields
    .filter((field) => field.name in after)
    .map((field): [string, string] => [field.label, shownText(field, before[field.name]) || texts.empty])
  return (
    <Button
      ref={keepFocus}
      variant="subtle"
      size="compact-sm"
      isDisabled={isDisabled}
      aria-label={name || values.length > 0 ? texts.reversalOf(text, name, values) : undefined}
      onClick={reverse}
    >
      {text}
    </Button>
  )
}

interface EntriesProps extends Omit<EntryProps, 'change'> {
  changes: ItemChange[]
  /** Whether these are all changes of the entry. */
  isWhole: boolean
  /** Whether the others are loaded by themselves. */
  isCounted: boolean
  isBack: boolean
}

/** One change, or the number of those that are alike, which can be opened. */
function Entries({ changes, isWhole, isCounted, isBack, ...others }: EntriesProps) {
  const { resource } = useResource()
  const texts = editTextsOf(resource).changes
  const [isOpen, setIsOpen] = useState(false)
  const [first] = changes
  const entries = () => changes.map((change) => <Entry key={String(change.id)} change={change} {...others} />)
  if (!first || !others.isOfAll || !isGroup(changes)) return entries()
  const { kind, after = {} } = first
  const values = resource.fields.filter(({ name }) => name in after)
  return (
    <li data-kind={kind}>
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          {kind === 'remove' ? texts.manyRemoved(changes.length, isWhole) : texts.manyChanged(changes.length, isWhole)}
          {values.map((field) => (
            <Fragment key={field.name}>
              {' '}
              <FieldChange field={field} change={first} />
            </Fragment>
          ))}
        </summary>
        {isOpen && <ol>{entries()}</ol>}
      </details>
      <By change={first} />
      {(isWhole || isCounted) && !isBack && (
        <Reversal changes={changes} isDisabled={!isWhole} onClose={others.onClose} />
      )}
    </li>
  )
}

/** The value of a field before a change, and after it if the item was not removed. */
function FieldChange({ field, change: { before, after } }: { field: Field; change: Change }) {
  const texts = editTextsOf(useResource().resource).changes
  const valueIn = (values: Values) => <Value field={field} value={values[field.name] ?? texts.empty} />
  return (
    <>
      <span className="changes-label">{field.label}</span>{' '}
      {after && (
        <>
          <span className="changes-before">{valueIn(before)}</span>{' '}
          <span role="img" aria-label={texts.became}>
            →
          </span>{' '}
        </>
      )}
      {valueIn(after ?? before)}
    </>
  )
}

interface EntryProps extends Pick<ChangeListProps, 'onClose'> {
  change: ItemChange
  isOfAll: boolean
}

function Entry({ change, isOfAll, onClose }: EntryProps) {
  const { resource, queries, open } = useResource()
  const { changes: texts, item: itemTexts } = editTextsOf(resource)
  const { itemId: id, kind, before, after } = change
  const fields = resource.fields
    .filter(({ name }) => name in before || (after && name in after))
    // The heading of a removed item has its title.
    .filter(({ name }) => after || name !== resource.title)
  const isUnnamed = isOfAll && kind === 'update'
  const query = useQuery({ ...queries.item(isUnnamed ? id : undefined, useQueryClient()), refetchInterval: false })
  const inPanel = useList().item.data
  const item = isOfAll ? query.data : inPanel
  /** Whether nothing is left to be changed back. */
  const isBack = item && after && fields.every((field) => isSame(item[field.name], before[field.name]))
  const name = textOf((item ?? before)[resource.title])
  const heading = name === '' ? itemTexts.heading(id) : `${name} #${id}`
  const isGone = query.error !== null && problemOf(query.error).kind === 'missing'
  return (
    <li data-kind={kind}>
      {(isOfAll || kind === 'remove') && (
        <p className="changes-item">
          {kind === 'remove' ? (
            <strong>{texts.removed(heading)}</strong>
          ) : isGone ? (
            heading
          ) : (
            <a
              href={hrefOf(resource, { item: id })}
              onClick={(event) =>
                openHere(event, () => {
                  onClose?.()
                  open({ kind: 'item', id })
                })
              }
            >
              {heading}
            </a>
          )}
        </p>
      )}
      {fields.map((field) => (
        <p key={field.name}>
          <FieldChange field={field} change={change} />
        </p>
      ))}
      <By change={change} />
      {!isGone && !isBack && (
        <Reversal
          changes={[change]}
          name={heading}
          item={item}
          isDisabled={after !== undefined && !item}
          onClose={onClose}
        />
      )}
    </li>
  )
}

function By({ change: { keyName, at } }: { change: Change }) {
  const texts = editTextsOf(useResource().resource).changes
  return (
    <p className="changes-by">
      {texts.by} <bdi>{keyName ?? texts.unknownKey}</bdi>,{' '}
      <time dateTime={at.toISOString()} title={textOf(at)}>
        {hours.format(at)}
      </time>
    </p>
  )
}
