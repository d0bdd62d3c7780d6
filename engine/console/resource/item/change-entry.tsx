import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import type { ServiceClient } from '#client'
import { textOf } from '#service/fields'
import { useClient } from '../../client.ts'
import { Value } from '../../components/value.tsx'
import { countOf, number, was } from '../../formats.ts'
import { problemOf } from '../../problem.ts'
import { type Field, type HistoryEntry, type Item, isSame, type Resource, type Values } from '../../resource.ts'
import { theAddition } from '../edit-key.ts'
import { useList, useResource } from '../page-context.ts'
import { maxLimit } from '../search.ts'
import { headingOf, Named, useItemLink } from './edit-text.tsx'
import { isGroup } from './history.ts'
import { Reversal } from './reversal.tsx'
import { changedFields, type ItemChange } from './undone.ts'

/** The most values of a field that an entry shows. */
const maxValues = 3

interface EntriesProps {
  changes: ItemChange[]
  /** Whether the list has the changes of all items. */
  isOfAll: boolean
  /** Whether these are all changes of the entry. */
  isWhole: boolean
  /** Whether the others are loaded by themselves. */
  isCounted: boolean
}

/** One change, or the number of those that are alike, which can be opened. */
export function Entries({ changes, isOfAll, isWhole, isCounted }: EntriesProps) {
  const { resource } = useResource()
  const [isOpen, setIsOpen] = useState(false)
  const [first] = changes
  const ids = changes.map(({ itemId }) => itemId)
  const { data: items, isLoading } = useQuery({
    ...itemsOf(resource, useClient(), ids),
    enabled: isOpen && first?.after !== undefined,
    placeholderData: keepPreviousData,
  })
  const entries = () =>
    changes.map((change) => <Entry key={String(change.id)} change={change} isOfAll={isOfAll} items={items} />)
  if (!first || !isOfAll || !isGroup(changes)) return entries()
  const names = changedFields(first)
  const { length } = changes
  const count = isWhole ? countOf(resource, length) : `${number(length)} or more ${resource.many}`
  return (
    <li data-kind={first.kind} tabIndex={-1}>
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          {first.after ? count : removalText(first, count, length)}
          {resource.fields
            .filter(({ name }) => names.includes(name))
            .map((field) => (
              <Fragment key={field.name}>
                {' '}
                <FieldChange field={field} changes={changes} isWhole={isWhole} />
              </Fragment>
            ))}
        </summary>
        {isOpen && (isLoading ? <p className="changes-none">Loading the changes</p> : <ol>{entries()}</ol>)}
      </details>
      <By change={first} />
      <Undos changes={changes} isWhole={isWhole} />
      {isWhole ? <Reversal changes={changes} /> : isCounted && <p className="changes-by">Not all loaded yet</p>}
    </li>
  )
}

/** The items with these ids that have not been removed. Neighbors are loaded with one call. */
function itemsOf(resource: Resource, client: ServiceClient, ids: bigint[]) {
  const { list } = resource.procedures(client)
  return queryOptions({
    queryKey: [resource.many, 'items', ids],
    async queryFn({ signal }) {
      const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1))
      const neighbors = [...Map.groupBy(sorted, (id) => id / BigInt(maxLimit)).values()]
      const load = ([first = 0n, ...others]: bigint[]) => {
        const limit = Number((others.at(-1) ?? first) - first) + 1
        return list.query({ ...(first > 1n && { cursor: first - 1n }), limit }, { signal })
      }
      const loaded = await Promise.all(neighbors.map(load))
      return new Map(loaded.flat().map((item) => [item.id, item]))
    },
  })
}

interface FieldChangeProps {
  field: Field
  changes: HistoryEntry[]
  isWhole?: boolean
}

/** The values of a field before changes, and after them if the items were not removed. */
function FieldChange({ field, changes, isWhole = false }: FieldChangeProps) {
  const valuesIn = (values: (Values | undefined)[], counted: (count: number) => string) => {
    const all = [...Map.groupBy(values, (each) => textOf(each?.[field.name])).values()]
    const shown = all.length > 1 ? all.sort((a, b) => b.length - a.length).slice(0, maxValues) : all
    return (
      <>
        {shown.map((each, index) => (
          <Fragment key={textOf(each[0]?.[field.name])}>
            {index > 0 && ', '}
            {all.length > 1 && isWhole && `${counted(each.length)} `}
            <Value field={field} value={each[0]?.[field.name] ?? 'nothing'} />
          </Fragment>
        ))}
        {all.length > shown.length && `, and ${number(all.length - shown.length)} more`}
      </>
    )
  }
  const [before, after] = [changes.map((change) => change.before), changes.map((change) => change.after)]
  return (
    <>
      <span className="changes-label">{field.label}</span>{' '}
      {after[0] && (
        <>
          <span className="changes-before">{valuesIn(before, (count) => `${number(count)} ${was(count)}`)}</span>{' '}
          <span role="img" aria-label="became">
            →
          </span>{' '}
        </>
      )}
      {valuesIn(after[0] ? after : before, number)}
    </>
  )
}

interface EntryProps extends Pick<EntriesProps, 'isOfAll'> {
  change: ItemChange
  /** The items of all changes of the entry around it, if they are loaded together. */
  items?: ReadonlyMap<bigint, Item> | undefined
}

function Entry({ change, isOfAll, items }: EntryProps) {
  const { resource, queries } = useResource()
  const linkTo = useItemLink()
  const { itemId: id, kind, before, after, title = before[resource.title] } = change
  const fields = resource.fields
    .filter(({ name }) => name in before || (after && name in after))
    // The heading of a removed item has its title.
    .filter(({ name }) => after || name !== resource.title)
  const isUnnamed = isOfAll && kind === 'update' && !items
  const query = useQuery({ ...queries.item(isUnnamed ? id : undefined, useQueryClient()), refetchInterval: false })
  const inPanel = useList().item.data
  const item = items ? items.get(id) : isOfAll ? query.data : inPanel
  const isBack = item && after && !change.next && fields.every((field) => isSame(item[field.name], before[field.name]))
  const isGone = items ? !item : query.error !== null && problemOf(query.error).kind === 'missing'
  const heading = headingOf(resource, id, (!isGone && item) || { ...before, [resource.title]: title })
  return (
    <li data-kind={kind} tabIndex={-1}>
      {(isOfAll || kind === 'remove') && (
        <p className="changes-item">
          {kind === 'remove' ? (
            <strong>
              <Named text={removalText(change, heading)} names={[heading]} />
            </strong>
          ) : isGone ? (
            <span translate="no">{heading}</span>
          ) : (
            <a translate="no" {...linkTo(id)}>
              {heading}
            </a>
          )}
        </p>
      )}
      {fields.map((field) => (
        <p key={field.name}>
          <FieldChange field={field} changes={[change]} />
        </p>
      ))}
      <By change={change} />
      <Undos changes={[change]} isWhole />
      {!isGone && <Reversal changes={[change]} item={item} isBack={isBack} />}
    </li>
  )
}

function removalText({ undoes }: ItemChange, removed: string, length = 1): string {
  return undoes === theAddition ? `The addition of ${removed} was undone` : `${removed} ${was(length)} removed`
}

const hours = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })

/** Who has undone changes, and when. */
function Undos({ changes, isWhole }: Pick<EntriesProps, 'changes' | 'isWhole'>) {
  const undos = Map.groupBy(
    changes.flatMap(({ undo }) => undo ?? []),
    ({ keyName }) => keyName,
  )
  return [...undos.values()].map(([first, ...others]) => {
    const count = others.length + 1
    const action = isWhole && count === changes.length ? 'Changed back' : `${number(count)} changed back`
    return first && <By key={String(first.id)} change={first} action={action} />
  })
}

function By({ change: { keyName, at }, action }: { change: HistoryEntry; action?: string }) {
  return (
    <p className="changes-by">
      {action} by <bdi translate={keyName === undefined ? undefined : 'no'}>{keyName ?? 'an unknown key'}</bdi>,{' '}
      <time dateTime={at.toISOString()} title={textOf(at)}>
        {hours.format(at)}
      </time>
    </p>
  )
}
