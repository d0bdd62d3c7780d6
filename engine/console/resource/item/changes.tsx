import { textOf } from '#service/fields'
import './changes.css'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
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
import { dayOf, timeOfDay } from '../../texts/formats.ts'
import { hasHistory } from '../edits.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOf, openHere } from '../view.ts'

export interface ChangesProps {
  /** Also called before an item is opened. */
  onClose: () => void
  /** Called with the values of an item that was removed. */
  onAddAgain: (values: Values) => void
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
export function LatestChanges(actions: Partial<ChangesProps>) {
  const { resource } = useResource()
  const isWide = useMediaQuery('(min-width: 100em)', false, { getInitialValueInEffect: false })
  const session = useQuery({ ...sessionOf(useClient()), staleTime: Number.POSITIVE_INFINITY }).data
  if (!isWide || !session) return null
  const texts = editTextsOf(resource).changes
  return (
    <PanelFrame title={texts.latest}>
      {session.access === 'write' ? (
        <ChangeList max={maxLatest} {...actions} />
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
  const { resource, queries } = useResource()
  const texts = editTextsOf(resource).changes
  const { data, failureReason, failureCount, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery(queries.history(id))
  const { data: item } = useList().item
  const shown = id === undefined || !item ? undefined : jsonOf(item)
  const [former, setFormer] = useState(shown)
  // The panel has shown the change already.
  useEffect(() => {
    if (shown !== former) void refetch()
    setFormer(shown)
  }, [shown, former, refetch])
  if (!data && failureReason) return <Failure title={texts.notLoaded} error={failureReason} failures={failureCount} />
  if (!data) return <div className="skeleton item-details-skeleton" role="status" aria-label={texts.loading} />
  const changes = data.pages.flat()
  /** Loads further pages until the group has ended, and returns all of it. */
  async function loadRest([first]: Change[]): Promise<Change[]> {
    for (;;) {
      const { data: loaded, hasNextPage: isMore, isError } = await fetchNextPage()
      const all = loaded?.pages.flat() ?? []
      const group = togetherOf(resource, all).find((each) => each[0]?.id === first?.id)
      if (isError || !group) return []
      if (!isMore || !mayGoOn(group, all)) return group
    }
  }
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
                onLoadRest={hasNextPage && mayGoOn(group, changes) ? () => loadRest(group) : undefined}
                {...actions}
              />
            ))}
          </ol>
        </Fragment>
      ))}
      <span className="visually-hidden" role="status">
        {data.pages.length > 1 && texts.shown(changes.length)}
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
    .map((seen): Edit => ({ seen, idempotencyKey: `add-again:${many}:${seen.id}` }))
    .sort((a, b) => (a.seen.id < b.seen.id ? -1 : 1))
  return { kind: 'editMany' as const, edits, same: 0, isAddition: true, startsAtOnce: true }
}

interface EntriesProps extends Omit<EntryProps, 'change'> {
  changes: Change[]
  /** Loads and returns all changes of the entry. Undefined if these are all. */
  onLoadRest: (() => Promise<Change[]>) | undefined
}

/** One change, or the number of those that are alike, which can be opened. */
function Entries({ changes, onLoadRest, ...others }: EntriesProps) {
  const { resource, open } = useResource()
  const texts = editTextsOf(resource).changes
  const [isOpen, setIsOpen] = useState(false)
  const isWhole = !onLoadRest
  const { mutate: load, isPending } = useMutation({ mutationFn: async () => onLoadRest?.() ?? changes })
  function addAgain(all: Change[]) {
    if (all.length === 0) return
    others.onClose?.()
    const items = all.map((change) => ({ ...change.before, id: idOf(resource.one, change) }))
    open(additionOf(resource, items))
  }
  const [first] = changes
  const entries = (shown: Change[]) =>
    shown.map((change) => <Entry key={String(change.id)} change={change} {...others} />)
  if (!first || !others.isOfAll || changes.length < 3) return entries(changes)
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
      {kind === 'remove' && others.onAddAgain && (
        <Button
          variant="subtle"
          size="compact-sm"
          isDisabled={isPending} // Does nothing if the user closes the view meanwhile.
          onClick={() => load(undefined, { onSuccess: addAgain })}
        >
          {editTextsOf(resource).many.addAgain(isWhole ? changes.length : undefined)}
        </Button>
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

function Entry({ change, isOfAll, onClose, onAddAgain }: EntryProps) {
  const { resource, queries, open } = useResource()
  const { changes: texts, item } = editTextsOf(resource)
  const { kind, before, after } = change
  const id = idOf(resource.one, change)
  const changed = resource.fields.filter(({ name }) => name in before || (after && name in after))
  // The heading of a removed item has its title.
  const fields = changed.filter(({ name }) => after || name !== resource.title)
  const isUnnamed = isOfAll && kind === 'update'
  const query = useQuery({ ...queries.item(isUnnamed ? id : undefined, useQueryClient()), refetchInterval: false })
  const name = textOf((query.data ?? before)[resource.title])
  const heading = name === '' ? item.heading(id) : `${name} #${id}`
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
      {kind === 'remove' && onAddAgain && (
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => {
            onClose?.()
            onAddAgain(before)
          }}
        >
          {texts.addAgain}
        </Button>
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
  const { resource, queries } = useResource()
  const enabled = isWanted && hasHistory(resource)
  const { data, isFetchedAfterMount, failureCount } = useInfiniteQuery({
    ...queries.history(seen.id),
    enabled,
    refetchOnMount: 'always',
  })
  const changes = data?.pages.flat() ?? []
  const change = changes.find(({ after }) => after && (!set || Object.keys(set).some((name) => name in after)))
  return { keyName: change?.keyName, isLoading: enabled && !isFetchedAfterMount && failureCount === 0 }
}
