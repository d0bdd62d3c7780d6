import { textOf } from '#service/fields'
import './changes.css'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Failure } from '../../components/failure.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { Value } from '../../components/value.tsx'
import type { Change } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { dayOf, timeOfDay } from '../../texts/formats.ts'
import { useResource } from '../page-context.ts'
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
  const { data, failureReason, failureCount, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    queries.history(id),
  )
  if (!data && failureReason) return <Failure title={texts.notLoaded} error={failureReason} failures={failureCount} />
  if (!data) return <div className="skeleton item-details-skeleton" role="status" aria-label={texts.loading} />
  const changes = data.pages.flat()
  const days = Map.groupBy(changes, ({ at }) => dayOf(at))
  return (
    <div className="changes">
      {changes.length === 0 && <p className="changes-none">{id === undefined ? texts.none : texts.noneOfItem}</p>}
      {[...days].map(([day, each]) => (
        <Fragment key={day}>
          <h3>{day}</h3>
          <ol>
            {each.map((change) => (
              <Entry key={String(change.id)} change={change} isOfAll={id === undefined} onClose={onClose} />
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

interface EntryProps {
  change: Change
  isOfAll: boolean
  onClose: (() => void) | undefined
}

function Entry({ change, isOfAll, onClose }: EntryProps) {
  const { resource, queries, texts: pageTexts, open } = useResource()
  const texts = editTextsOf(resource).changes
  const { at, keyName, kind, before, after } = change
  // Safe: the service names the id of the item for the resource.
  const id = (change as unknown as Record<string, bigint>)[`${resource.one}Id`] ?? 0n
  const changed = resource.fields.filter(({ name }) => name in before || (after && name in after))
  // The heading of a removed item has its title.
  const fields = changed.filter(({ name }) => after || name !== resource.title)
  const isUnnamed = isOfAll && kind === 'update'
  const query = useQuery({ ...queries.item(isUnnamed ? id : undefined, useQueryClient()), refetchInterval: false })
  const name = textOf((query.data ?? before)[resource.title])
  const heading = name === '' ? pageTexts.item.heading(id) : `${name} #${id}`
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
      <p className="changes-by">
        {texts.by} <bdi>{keyName ?? texts.unknownKey}</bdi>,{' '}
        <time dateTime={at.toISOString()} title={textOf(at)}>
          {timeOfDay(at)}
        </time>
      </p>
    </li>
  )
}
