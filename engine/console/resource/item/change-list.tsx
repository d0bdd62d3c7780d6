import './changes.css'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useState } from 'react'
import { useClient } from '../../client.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Button } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { countOf, number } from '../../formats.ts'
import { jsonOf } from '../../requests/curl.ts'
import { Failure, useLastFailure } from '../../requests/failure.tsx'
import { type HistoryEntry, isSearchable } from '../../resource.ts'
import { theAddition } from '../edit-key.ts'
import { useList, useResource } from '../page-context.ts'
import { type ChangesShown, everything, hrefOf, openHere, readView, show } from '../view.ts'
import { Entries } from './change-entry.tsx'
import { ChangeFilter } from './change-filter.tsx'
import { historyOf, isGroup, isListed, mayGoOn, togetherOf } from './history.ts'
import { type ItemChange, lacksUndone, withNext } from './undone.ts'

/** How many changes are loaded by themselves, to count those of a group, or to find so many entries that are listed. */
const maxLoaded = { changes: 10_000, entries: 20 }
const maxLoadedOfLatest = { changes: 2_000, entries: 5 }

interface ChangeListProps {
  /** The item whose changes are shown, instead of those of all items. */
  id?: bigint
  /** How many entries are shown at most, without a way to load more. */
  max?: number
  /** Which changes are listed, if the user can choose. */
  shown?: ChangesShown
}

/** The changes of an item, or of all items, the newest first. */
export function ChangeList({ id, max, shown }: ChangeListProps) {
  const { resource } = useResource()
  const query = useInfiniteQuery(historyOf(resource, useClient(), id))
  const { data, failureCount, hasNextPage, fetchNextPage, refetch } = query
  const failure = useLastFailure(query)
  const { isFetchingNextPage, isFetchNextPageError } = query
  const { data: item } = useList().item
  const isOfAll = id === undefined
  const inPanel = isOfAll || !item ? undefined : jsonOf(item)
  // The panel shows a change before the history does.
  useEffect(() => void (inPanel && refetch()), [inPanel, refetch])
  const changes = withNext(resource, data?.pages.flat() ?? [])
  const undos = new Set(changes.map(({ undo }) => undo))
  const listed = changes.filter((change) => !undos.has(change))
  const all = togetherOf(listed)
  const groups = all.filter((group) => !shown || group.some((change) => isListed(change, shown)))
  const isFiltered = groups.length < all.length
  const isGoingOn = (group: HistoryEntry[]) => hasNextPage && mayGoOn(group, listed)
  const [wanted, setWanted] = useState(max ? maxLoadedOfLatest : maxLoaded)
  const isSought = hasNextPage && (isFiltered || max) && groups.length < wanted.entries
  const isUncounted = groups.some((group) => isGroup(group) && isGoingOn(group))
  const isUnpaired = hasNextPage && lacksUndone(changes)
  const isLoadingOn =
    isOfAll && changes.length < wanted.changes && (isSought || isUncounted || isUnpaired) && !isFetchNextPageError
  useEffect(() => {
    if (isLoadingOn && !isFetchingNextPage) void fetchNextPage()
  }, [isLoadingOn, isFetchingNextPage, fetchNextPage])
  if (!data && failure)
    return <Failure title="The changes could not be loaded" error={failure} failures={failureCount} />
  if (!data) return <div className="skeleton item-details-skeleton" role="status" aria-label="Loading the changes" />
  // One level below the heading of the panel, or of the history of the item.
  const Day = isOfAll ? 'h3' : 'h4'
  /** How many changes, removals, and changes that were undone, a day has. What is not loaded may have been undone. */
  function summaryOf(ofDay: ItemChange[], isWhole: boolean): string {
    if (!isWhole) return ` · at least ${countOf({ one: 'change', many: 'changes' }, ofDay.length)}`
    const numberOf = (isCounted: (change: ItemChange) => unknown) => ofDay.filter(isCounted).length
    const counts = {
      changed: numberOf(({ kind, undo }) => kind === 'update' && !undo),
      removed: numberOf(({ kind, undoes }) => kind === 'remove' && undoes !== theAddition),
      'changed back': numberOf(({ undo }) => undo),
    }
    const shown = Object.entries(counts).filter(([, count]) => count > 0)
    return shown.map(([what, count], index) => `${index === 0 ? ' · ' : ', '}${number(count)} ${what}`).join('')
  }
  function loadMore() {
    setWanted({ changes: changes.length + maxLoaded.changes, entries: groups.length + maxLoaded.entries })
    void fetchNextPage()
  }
  const isMore = hasNextPage || groups.length > Number(max)
  const days = Map.groupBy(groups.slice(0, max), ([first]) => first && dayOf(first.at))
  const match = groups.length > 0 ? 'these match' : 'none matches. “Show more” looks at earlier ones'
  const compared = isLoadingOn
    ? 'Looking at earlier changes…'
    : `Of the latest ${number(changes.length)} changes, ${match}.`
  const noneFound = hasNextPage ? compared : 'No changes match. Choose another kind, key or day.'
  const none = !isOfAll
    ? 'Not changed yet.'
    : changes.length === 0
      ? `No ${resource.one} has been changed or removed yet.`
      : noneFound
  return (
    <div className="changes">
      {shown && (
        <ChangeFilter
          shown={shown}
          keyNames={changes.flatMap(({ keyName }) => keyName ?? [])}
          loaded={hasNextPage ? changes.length : undefined}
        />
      )}
      {shown && (
        <p className="changes-none">
          {`Added ${resource.many} are not listed here.`} {isSearchable(resource) && <NewestLink />}
        </p>
      )}
      {groups.length === 0 && <p className="changes-none">{none}</p>}
      {[...days].map(([day, each], index) => (
        <Fragment key={day}>
          <Day>
            {day}
            {isOfAll && summaryOf(each.flat(), !isMore || index < days.size - 1)}
          </Day>
          <ol>
            {each.map((group) => (
              <Entries
                // The first change, so that an open entry stays open while it gets others.
                key={String(group.at(-1)?.id)}
                changes={group}
                isOfAll={isOfAll}
                isWhole={!isGoingOn(group)}
                isCounted={!max}
              />
            ))}
          </ol>
        </Fragment>
      ))}
      {hasNextPage && isFiltered && groups.length > 0 && <p className="changes-none">{compared}</p>}
      <Announcement
        text={
          !max &&
          (data.pages.length > 1 || isFiltered) &&
          !isLoadingOn &&
          `${countOf({ one: 'change', many: 'changes' }, groups.flat().length)} shown`
        }
      />
      {hasNextPage && !max && (
        <Button ref={keepFocus} variant="default" size="xs" isDisabled={isFetchingNextPage} onClick={loadMore}>
          Show more
        </Button>
      )}
    </div>
  )
}

/** Shows what was added last, instead of the changes, which cover the list of a phone. */
function NewestLink() {
  const { resource } = useResource()
  const place = { ...everything, order: 'newest' } as const
  function showNewest() {
    const view = readView(resource)
    show(resource, { ...view, ...place, changes: undefined, isOverList: false })
  }
  return (
    <a href={hrefOf(resource, place)} onClick={(event) => openHere(event, showNewest)}>
      {`Newest ${resource.many}`}
    </a>
  )
}

const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })

/** The day in the time zone of the browser, such as `Today`. */
function dayOf(time: Date): string {
  const day = days.format(time)
  const now = Date.now()
  if (day === days.format(now)) return 'Today'
  return day === days.format(now - 86_400_000) ? 'Yesterday' : day
}
