import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { textOf } from '#service/fields'
import { Value } from '../../components/value.tsx'
import { problemOf } from '../../problem.ts'
import { type Change, type Field, isSame, type Values } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { useList, useResource } from '../page-context.ts'
import { hrefOf, openHere } from '../view.ts'
import { headingOf, Named } from './edit-text.tsx'
import { type ItemChange, isGroup } from './history.ts'
import { Reversal } from './reversal.tsx'

interface EntriesProps {
  changes: ItemChange[]
  /** Whether the list has the changes of all items. */
  isOfAll: boolean
  /** Whether these are all changes of the entry. */
  isWhole: boolean
  /** Whether the others are loaded by themselves. */
  isCounted: boolean
  isBack: boolean
}

/** One change, or the number of those that are alike, which can be opened. */
export function Entries({ changes, isOfAll, isWhole, isCounted, isBack }: EntriesProps) {
  const { resource } = useResource()
  const texts = editTextsOf(resource).changes
  const [isOpen, setIsOpen] = useState(false)
  const [first] = changes
  const entries = () => changes.map((change) => <Entry key={String(change.id)} change={change} isOfAll={isOfAll} />)
  if (!first || !isOfAll || !isGroup(changes)) return entries()
  const { kind, after = {} } = first
  const values = resource.fields.filter(({ name }) => name in after)
  return (
    <li data-kind={kind} tabIndex={-1}>
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
      {(isWhole || isCounted) && <Reversal changes={changes} isDisabled={!isWhole} isBack={isBack} />}
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

function Entry({ change, isOfAll }: Pick<EntriesProps, 'isOfAll'> & { change: ItemChange }) {
  const { resource, queries, open } = useResource()
  const texts = editTextsOf(resource).changes
  const { itemId: id, kind, before, after } = change
  const fields = resource.fields
    .filter(({ name }) => name in before || (after && name in after))
    // The heading of a removed item has its title.
    .filter(({ name }) => after || name !== resource.title)
  const isUnnamed = isOfAll && kind === 'update'
  const query = useQuery({ ...queries.item(isUnnamed ? id : undefined, useQueryClient()), refetchInterval: false })
  const inPanel = useList().item.data
  const item = isOfAll ? query.data : inPanel
  const isBack = item && after && fields.every((field) => isSame(item[field.name], before[field.name]))
  const heading = headingOf(resource, id, item ?? before)
  const isGone = query.error !== null && problemOf(query.error).kind === 'missing'
  return (
    <li data-kind={kind} tabIndex={-1}>
      {(isOfAll || kind === 'remove') && (
        <p className="changes-item">
          {kind === 'remove' ? (
            <strong>
              <Named text={texts.removed(heading)} names={[heading]} />
            </strong>
          ) : isGone ? (
            <span translate="no">{heading}</span>
          ) : (
            <a
              translate="no"
              href={hrefOf(resource, { item: id })}
              onClick={(event) => openHere(event, () => open({ kind: 'item', id }))}
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
      {!isGone && <Reversal changes={[change]} item={item} isBack={isBack} isDisabled={after !== undefined && !item} />}
    </li>
  )
}

const hours = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })

function By({ change: { keyName, at } }: { change: Change }) {
  const texts = editTextsOf(useResource().resource).changes
  return (
    <p className="changes-by">
      {texts.by} <bdi translate={keyName === undefined ? undefined : 'no'}>{keyName ?? texts.unknownKey}</bdi>,{' '}
      <time dateTime={at.toISOString()} title={textOf(at)}>
        {hours.format(at)}
      </time>
    </p>
  )
}
