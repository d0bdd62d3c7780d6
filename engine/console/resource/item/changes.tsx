import { textOf } from '#service/fields'
import './changes.css'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, useEffect, useState } from 'react'
import { useClient } from '../../client.ts'
import { Button } from '../../components/buttons.tsx'
import { Failure } from '../../components/failure.tsx'
import { keepFocus } from '../../components/focus.ts'
import { PanelFrame } from '../../components/panel.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { Value } from '../../components/value.tsx'
import { problemOf } from '../../problem.ts'
import { jsonOf } from '../../requests/curl.ts'
import { type Change, type Edit, type Field, type Item, isSame, type Resource, type Values } from '../../resource.ts'
import { sessionOf } from '../../sign-in/access.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { editOf, hasHistory, isEditable } from '../edits.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOf, openHere } from '../view.ts'
import { historyOf } from './history.ts'

export interface ChangesProps {
  /** Also called before an item is opened, or a change is reversed. */
  onClose: () => void
}

/** A sheet with what was changed and removed, by day. */
export function Changes(props: ChangesProps) {
  const { resource } = useResource()
  return (
    <Sheet title={editTextsOf(resource).changes.title} onClose={props.onClose} size="md">
      <ChangeList {...props} />
    </Sheet>
  )
}

/** So many fit a high window. Each one of an item that the list does not show costs a call, for its title. */
const maxLatest = 12

/** The latest changes, in the room of a wide window that is otherwise that of the panel. */
export function LatestChanges() {
  const { resource } = useResource()
  const isWide = useMediaQuery('(min-width: 100em)', false, { getInitialValueInEffect: false })
  const session = useQuery({ ...sessionOf(useClient()), staleTime: Number.POSITIVE_INFINITY }).data
  if (!isWide || !session) return null
  const texts = editTextsOf(resource).changes
  return (
    <PanelFrame title={texts.latest}>
      {session.access === 'write' ? (
        <ChangeList max={maxLatest} />
      ) : (
        <p className="changes-none">{texts.notForThisKey}</p>
      )}
    </PanelFrame>
  )
}

interface ChangeListProps extends Partial<ChangesProps> {
  /** The item whose changes are shown, instead of those of all items. */
  id?: bigint
  /** How many entries are shown at most, without a way to load more. */
  max?: number
}

/** The changes of an item, or of all items, the newest first. */
export function ChangeList({ id, max, ...actions }: ChangeListProps) {
  const { resource } = useResource()
  const texts = editTextsOf(resource).changes
  const { data, failureReason, failureCount, hasNextPage, fetchNextPage, refetch, ...query } = useInfiniteQuery(
    historyOf(resource, useClient(), id),
  )
  const { isFetchingNextPage, isFetchNextPageError } = query
  const { data: item } = useList().item
  const shown = id === undefined || !item ? undefined : jsonOf(item)
  const [former, setFormer] = useState(shown)
  // The panel has shown the change already.
  useEffect(() => {
    if (shown !== former) void refetch()
    setFormer(shown)
  }, [shown, former, refetch])
  const changes = data?.pages.flat() ?? []
  const isGoingOn = (group: Change[]) => hasNextPage && mayGoOn(group, changes)
  const isCounting =
    id === undefined &&
    !max &&
    changes.length < maxCounted &&
    togetherOf(resource, changes).some((group) => isGroup(group) && isGoingOn(group))
  const isLoadingOn = isCounting && !isFetchNextPageError
  useEffect(() => {
    if (isLoadingOn && !isFetchingNextPage) void fetchNextPage()
  }, [isLoadingOn, isFetchingNextPage, fetchNextPage])
  if (!data && failureReason) return <Failure title={texts.notLoaded} error={failureReason} failures={failureCount} />
  if (!data) return <div className="skeleton item-details-skeleton" role="status" aria-label={texts.loading} />
  // One level below the heading of the sheet, or of the history of the item.
  const Day = id === undefined ? 'h3' : 'h4'
  const groups = togetherOf(resource, changes)
  const isMore = hasNextPage || groups.length > Number(max)
  const days = Map.groupBy(groups.slice(0, max), ([first]) => first && dayOf(first.at))
  return (
    <div className="changes">
      {id === undefined && !max && <p className="changes-none">{texts.note}</p>}
      {changes.length === 0 && <p className="changes-none">{id === undefined ? texts.none : texts.noneOfItem}</p>}
      {[...days].map(([day, each], index) => (
        <Fragment key={day}>
          <Day>
            {day}
            {id === undefined && !(isMore && index === days.size - 1) && <DaySummary changes={each.flat()} />}
          </Day>
          <ol>
            {each.map((group) => (
              <Entries
                key={String(group[0]?.id)}
                changes={group}
                isOfAll={id === undefined}
                isWhole={!isGoingOn(group)}
                isCounted={!max}
                isBack={groups.slice(0, groups.indexOf(group)).some((later) => undoes(resource, later, group))}
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

/** The time of the day without seconds. */
function timeOfDay(time: Date): string {
  return hours.format(time)
}

/** How many changes and removals a day has that is loaded as a whole. */
function DaySummary({ changes }: { changes: Change[] }) {
  const texts = editTextsOf(useResource().resource).changes
  const removed = changes.filter(({ kind }) => kind === 'remove').length
  return <> · {texts.ofDay(changes.length - removed, removed)}</>
}

/** Milliseconds between two changes that are shown as one. */
const maxGap = 2_000

/** Changes of several items at about the same time that do the same with the same key, as an edit of many items does. */
function togetherOf({ one }: Resource, changes: Change[]): Change[][] {
  const together: { group: Change[]; ids: Set<bigint> }[] = []
  for (const change of changes) {
    const id = idOf(one, change)
    const known = together.find(({ group, ids }) => {
      const last = group.at(-1)
      return last && isAlike(last, change) && !ids.has(id)
    })
    const entry = known ?? { group: [], ids: new Set() }
    if (!known) together.push(entry)
    entry.group.push(change)
    entry.ids.add(id)
  }
  return together.map(({ group }) => group)
}

/** Whether later changes have given all items of others their former values. */
function undoes({ one }: Resource, later: Change[], changes: Change[]): boolean {
  const [last, first] = [later[0], changes[0]]
  if (!last?.after || !first?.after || !areSame(last.before, first.after) || !areSame(last.after, first.before))
    return false
  const ids = new Set(later.map((change) => idOf(one, change)))
  return changes.every((change) => ids.has(idOf(one, change)))
}

/** How many changes are loaded by themselves to count those of a group. */
const maxCounted = 10_000

/** Whether changes that are alike are shown as one. */
function isGroup({ length }: Change[]): boolean {
  return length > 2
}

/** Whether the changes after those that are loaded may belong to a group, too. */
function mayGoOn(group: Change[], loaded: Change[]): boolean {
  return Number(group.at(-1)?.at) - Number(loaded.at(-1)?.at) < maxGap
}

function isAlike(one: Change, other: Change): boolean {
  return (
    one.kind === other.kind &&
    one.keyName === other.keyName &&
    Number(one.at) - Number(other.at) < maxGap &&
    (one.kind === 'remove' || (areSame(one.before, other.before) && areSame(one.after, other.after)))
  )
}

function areSame(some: Values = {}, others: Values = {}): boolean {
  return Object.keys({ ...some, ...others }).every((name) => isSame(some[name], others[name]))
}

/** The id of the changed item. */
function idOf(one: string, change: Change): bigint {
  // Safe: the service names the id of the item for the resource.
  return (change as unknown as Record<string, bigint>)[`${one}Id`] ?? 0n
}

/**
 * The dialog that adds items again which were removed, as new ones, in the order of their former ids. The idempotency key
 * follows from that id. So each item is added once, also if the user asks for it in several places.
 */
export function additionOf({ many }: Resource, items: Item[]) {
  const edits = items
    .map((seen): Edit => ({ seen, idempotencyKey: `add-again:${many}:${seen.id}`, isAddition: true }))
    .sort((a, b) => (a.seen.id < b.seen.id ? -1 : 1))
  return { kind: 'editMany' as const, edits, same: 0, startsAtOnce: true }
}

/** The idempotency keys of the items that this tab has added again. */
export const addedAgain = new Set<string>()

/** The edit that gives an item the values before a change, unless somebody has changed one of them since then. */
function formerOf({ one, entered }: Resource, change: Change, item?: Item): Edit {
  const { before, after = {} } = change
  const names = entered.map(({ name }) => name).filter((name) => name in before || name in after)
  const [former, set] = [before, after].map((values) => Object.fromEntries(names.map((name) => [name, values[name]])))
  return editOf({ ...item, ...set, id: idOf(one, change) }, former)
}

interface ReversalProps {
  changes: Change[]
  /** The changed item, if there is only one. */
  item?: Item | undefined
  isDisabled: boolean
  onClose: (() => void) | undefined
}

/** The button that adds removed items again, or changes others back. */
function Reversal({ changes, item, isDisabled, onClose }: ReversalProps) {
  const { resource, open } = useResource()
  const { edit } = useList()
  const { changes: texts, many } = editTextsOf(resource)
  const isRemoval = changes[0]?.kind === 'remove'
  const removed = () => changes.map((change) => ({ ...change.before, id: idOf(resource.one, change) }))
  function reverse() {
    onClose?.()
    if (isRemoval) return open(additionOf(resource, removed()))
    const edits = changes.map((change) => formerOf(resource, change, item))
    const [only, ...others] = edits
    if (only?.set && others.length === 0) edit(only.seen, only.set)
    else open({ kind: 'editMany', edits, same: 0, isUndo: true, startsAtOnce: true })
  }
  if (isRemoval && additionOf(resource, removed()).edits.every(({ idempotencyKey }) => addedAgain.has(idempotencyKey)))
    return <p className="changes-by">{texts.addedAgain}</p>
  if (!isRemoval && !isEditable(resource)) return null
  const [one, all] = isRemoval ? [texts.addAgain, many.addAgain] : [texts.changeBack, many.changeBack]
  return (
    <Button ref={keepFocus} variant="subtle" size="compact-sm" isDisabled={isDisabled} onClick={reverse}>
      {changes.length === 1 ? one : all(isDisabled ? undefined : changes.length)}
    </Button>
  )
}

interface EntriesProps extends Omit<EntryProps, 'change'> {
  changes: Change[]
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
  const entries = (shown: Change[]) =>
    shown.map((change) => <Entry key={String(change.id)} change={change} {...others} />)
  if (!first || !others.isOfAll || !isGroup(changes)) return entries(changes)
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
        {isOpen && <ol>{entries(changes)}</ol>}
      </details>
      <By change={first} />
      {(isWhole || isCounted) && !isBack && (
        <Reversal changes={changes} isDisabled={!isWhole} onClose={others.onClose} />
      )}
    </li>
  )
}

/** The value of a field before and after a change. */
function FieldChange({ field, change: { before, after } }: { field: Field; change: Change }) {
  const texts = editTextsOf(useResource().resource).changes
  return (
    <>
      <span className="changes-label">{field.label}</span>{' '}
      <span className="changes-before">
        <Value field={field} value={before[field.name] ?? texts.empty} />
      </span>{' '}
      <span role="img" aria-label={texts.became}>
        →
      </span>{' '}
      <Value field={field} value={after?.[field.name] ?? texts.empty} />
    </>
  )
}

interface EntryProps extends Partial<ChangesProps> {
  change: Change
  isOfAll: boolean
}

function Entry({ change, isOfAll, onClose }: EntryProps) {
  const { resource, queries, open } = useResource()
  const { changes: texts, item: itemTexts } = editTextsOf(resource)
  const { kind, before, after } = change
  const id = idOf(resource.one, change)
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
  const name = textOf((query.data ?? before)[resource.title])
  const heading = name === '' ? itemTexts.heading(id) : `${name} #${id}`
  const isGone = query.error !== null && problemOf(query.error).kind === 'missing'
  return (
    <li data-kind={kind}>
      {isOfAll && (
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
      {!isOfAll && kind === 'remove' && <strong>{texts.removed(heading)}</strong>}
      {fields.map((field) => (
        <p key={field.name}>
          {after ? (
            <FieldChange field={field} change={change} />
          ) : (
            <>
              <span className="changes-label">{field.label}</span> <Value field={field} value={before[field.name]} />
            </>
          )}
        </p>
      ))}
      <By change={change} />
      {!isGone && !isBack && (
        <Reversal changes={[change]} item={item} isDisabled={after !== undefined && !item} onClose={onClose} />
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
        {timeOfDay(at)}
      </time>
    </p>
  )
}

/** The name of the API key that has changed an edited field last, if the service keeps a history. */
export function useAuthor({ seen, set }: Edit, isWanted: boolean) {
  const { resource } = useResource()
  const enabled = isWanted && hasHistory(resource)
  const { data, isFetchedAfterMount, failureCount } = useInfiniteQuery({
    ...historyOf(resource, useClient(), seen.id),
    enabled,
    refetchOnMount: 'always',
  })
  const changes = data?.pages.flat() ?? []
  const change = changes.find(({ after }) => after && (!set || Object.keys(set).some((name) => name in after)))
  return { keyName: change?.keyName, isLoading: enabled && !isFetchedAfterMount && failureCount === 0 }
}
