import { textOf } from '#service/fields'
import './changes.css'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, useEffect, useState } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Failure } from '../../components/failure.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { Value } from '../../components/value.tsx'
import { jsonOf } from '../../requests/curl.ts'
import { type Change, isSame } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { dayOf, timeOfDay } from '../../texts/formats.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOf, openHere } from '../view.ts'

/** A sheet with what was changed and removed, by day. */
export function Changes({ onClose }: { onClose: () => void }) {
  const { resource } = useResource()
  return (
    <Sheet title={editTextsOf(resource).changes.title} onClose={onClose} size="md">
      <ChangeList onClose={onClose} />
    </Sheet>
  )
}

interface ChangeListProps {
  /** The item whose changes are shown, instead of those of all items. */
  id?: bigint
  /** Called before an item is opened. */
  onClose?: () => void
}

/** The changes of an item, or of all items, the newest first. */
export function ChangeList({ id, onClose }: ChangeListProps) {
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
  // One level below the heading of the sheet, or of the history of the item.
  const Day = id === undefined ? 'h3' : 'h4'
  const days = Map.groupBy(changes, ({ at }) => dayOf(at))
  return (
    <div className="changes">
      {changes.length === 0 && <p className="changes-none">{id === undefined ? texts.none : texts.noneOfItem}</p>}
      {[...days].map(([day, each]) => (
        <Fragment key={day}>
          <Day>{day}</Day>
          <ol>
            {togetherOf(each).map((changes) => (
              <Entries key={String(changes[0]?.id)} changes={changes} isOfAll={id === undefined} onClose={onClose} />
            ))}
          </ol>
        </Fragment>
      ))}
      {hasNextPage && (
        <Button variant="default" size="xs" isDisabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </div>
  )
}

/** Milliseconds between two changes that are shown as one. */
const maxGap = 10_000

/** Changes that follow each other and do the same with the same key, such as those of an edit of many items. */
function togetherOf(changes: Change[]): Change[][] {
  const together: Change[][] = []
  for (const change of changes) {
    const group = together.at(-1)
    const former = group?.at(-1)
    if (group && former && isAlike(former, change)) group.push(change)
    else together.push([change])
  }
  return together
}

function isAlike(one: Change, other: Change): boolean {
  const { after: values = {} } = one
  return (
    one.kind === other.kind &&
    one.keyName === other.keyName &&
    Number(one.at) - Number(other.at) < maxGap &&
    Object.keys({ ...values, ...other.after }).every((name) => isSame(values[name], other.after?.[name]))
  )
}

interface EntriesProps extends Omit<EntryProps, 'change'> {
  changes: Change[]
}

/** One change, or the number of those that are alike, which can be opened. */
function Entries({ changes, isOfAll, onClose }: EntriesProps) {
  const { resource } = useResource()
  const texts = editTextsOf(resource).changes
  const [isOpen, setIsOpen] = useState(false)
  const [first] = changes
  const entries = (shown: Change[]) =>
    shown.map((change) => <Entry key={String(change.id)} change={change} isOfAll={isOfAll} onClose={onClose} />)
  if (!first || !isOfAll || changes.length < 3) return entries(changes)
  const { kind, after = {} } = first
  const values = resource.fields.filter(({ name }) => name in after)
  return (
    <li data-kind={kind}>
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          {kind === 'remove' ? texts.manyRemoved(changes.length) : texts.manyChanged(changes.length)}
          {values.map((field) => (
            <Fragment key={field.name}>
              {' '}
              <span className="changes-label">{field.label}</span>{' '}
              <span role="img" aria-label={texts.became}>
                →
              </span>{' '}
              <Value field={field} value={after[field.name] ?? texts.empty} />
            </Fragment>
          ))}
        </summary>
        {isOpen && <ol>{entries(changes)}</ol>}
      </details>
      <By change={first} />
    </li>
  )
}

interface EntryProps {
  change: Change
  isOfAll: boolean
  onClose: (() => void) | undefined
}

function Entry({ change, isOfAll, onClose }: EntryProps) {
  const { resource, queries, open } = useResource()
  const { changes: texts, item } = editTextsOf(resource)
  const { kind, before, after } = change
  // Safe: the service names the id of the item for the resource.
  const id = (change as unknown as Record<string, bigint>)[`${resource.one}Id`] ?? 0n
  const changed = resource.fields.filter(({ name }) => name in before || (after && name in after))
  // The heading of a removed item has its title.
  const fields = changed.filter(({ name }) => after || name !== resource.title)
  const isUnnamed = isOfAll && kind === 'update'
  const query = useQuery({ ...queries.item(isUnnamed ? id : undefined, useQueryClient()), refetchInterval: false })
  const name = textOf((query.data ?? before)[resource.title])
  const heading = name === '' ? item.heading(id) : `${name} #${id}`
  return (
    <li data-kind={kind}>
      {isOfAll && (
        <p className="changes-item">
          {kind === 'remove' ? (
            <strong>{texts.removed(heading)}</strong>
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
          <span className="changes-label">{field.label}</span>{' '}
          {after ? (
            <>
              <span className="changes-before">
                <Value field={field} value={before[field.name] ?? texts.empty} />
              </span>{' '}
              <span role="img" aria-label={texts.became}>
                →
              </span>{' '}
              <Value field={field} value={after[field.name] ?? texts.empty} />
            </>
          ) : (
            <Value field={field} value={before[field.name]} />
          )}
        </p>
      ))}
      <By change={change} />
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
