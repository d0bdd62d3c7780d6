import './list-footer.css'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { IconButton, SteadyButton } from '../components/buttons.tsx'
import { Retrying } from '../components/failure.tsx'
import { hint } from '../components/hint.ts'
import {
  IconAlertTriangle,
  IconChevronLeft,
  IconChevronLeftPipe,
  IconChevronRight,
  IconChevronRightPipe,
  IconRefresh,
} from '../components/icons.tsx'
import { useNow } from '../components/use-now.ts'
import { useShortcuts } from '../keyboard.ts'
import { usePetstore } from '../petstore.ts'
import { problemOf } from '../problem.ts'
import { findCursor, maxId } from './cursor.ts'
import { messages } from './messages.ts'
import { type Counts, type PageQuery, pageOptions, pageSize, totalOf, useRefresh } from './queries.ts'
import type { Place, View } from './view.ts'

const texts = messages.list

interface ListFooterProps {
  view: View
  page: PageQuery
  /** Undefined until the pets are counted. */
  counts: Counts | undefined
  /** The cursor of the next page. Undefined if there is none, or while the page is being loaded. */
  next: bigint | undefined
  onTurn: (place: Place) => void
}

/** Which pets the list shows, how old they are, and the other pages. */
export function ListFooter({ view, page, counts, next, onTurn }: ListFooterProps) {
  const isEmpty = view.cursor === 0n && page.data?.length === 0
  // The message in place of the list says why there is nothing to show.
  if (page.failureReason && (!page.data || page.isPlaceholderData)) return null
  return (
    <div className="list-footer">
      <p className="list-range number" role="status">
        {rangeOf(view, page, next, counts)}
      </p>
      <Age page={page} />
      {!isEmpty && <Pager view={view} counts={counts} next={next} onTurn={onTurn} />}
    </div>
  )
}

function Pager({ view, counts, next, onTurn }: Omit<ListFooterProps, 'page'>) {
  const { cursor, earlierCursors } = view
  const search = useCursorSearch(view, counts)
  const place = `${view.status} ${cursor}`
  const current = useRef(place)
  useEffect(() => {
    current.current = place
  }, [place])
  const isFirst = cursor === 0n
  const isLast = next === undefined

  /** Shows the page that ends with the last pet up to an id, unless another page was shown meanwhile. */
  function searchFrom(end: bigint) {
    const onSuccess = (found: bigint) => {
      if (current.current === place) onTurn({ cursor: found })
    }
    search.mutate(end, { onSuccess })
  }

  function showPrevious() {
    if (isFirst) return
    const previous = earlierCursors.at(-1)
    if (previous === undefined) searchFrom(cursor)
    else onTurn({ cursor: previous, earlierCursors: earlierCursors.slice(0, -1) })
  }

  function showNext() {
    if (next !== undefined) onTurn({ cursor: next, earlierCursors: isKnown(view) ? [...earlierCursors, cursor] : [] })
  }

  useShortcuts({ previousPage: showPrevious, nextPage: showNext })
  return (
    <nav className="pager" aria-label={texts.pages} aria-busy={search.isPending}>
      {search.error && <span role="alert">{problemOf(search.error).message}</span>}
      <IconButton label={texts.first} isDisabled={isFirst} onClick={() => onTurn({})}>
        <IconChevronLeftPipe />
      </IconButton>
      <SteadyButton
        variant="default"
        leftSection={<IconChevronLeft />}
        isDisabled={isFirst}
        {...hint(texts.previousPage, 'previousPage')}
        onClick={showPrevious}
      >
        {texts.previous}
      </SteadyButton>
      <SteadyButton
        variant="default"
        rightSection={<IconChevronRight />}
        isDisabled={isLast}
        {...hint(texts.nextPage, 'nextPage')}
        onClick={showNext}
      >
        {texts.next}
      </SteadyButton>
      <IconButton label={texts.newest} isDisabled={isLast} onClick={() => searchFrom(maxId)}>
        <IconChevronRightPipe />
      </IconButton>
    </nav>
  )
}

/** Whether the position of the page in the whole list is known. It is not if a link opened the page. */
function isKnown({ cursor, earlierCursors }: View): boolean {
  return cursor === 0n || earlierCursors.length > 0
}

/** Searches for the page that ends with the last pet up to an id. It is in the cache then. */
function useCursorSearch({ status }: View, counts: Counts | undefined) {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (end: bigint) =>
      findCursor((cursor) => queryClient.fetchQuery(pageOptions(petstore, { status, cursor })), {
        end,
        guess: end === maxId ? guessNewest(counts, status) : end - BigInt(pageSize),
      }),
  })
}

/** The cursor of the newest pets if no id was skipped, and each status is spread evenly over the ids. */
function guessNewest(counts: Counts | undefined, status: View['status']): bigint {
  const all = totalOf(counts, undefined)?.count ?? 0
  const share = (totalOf(counts, status)?.count ?? 0) / (all || 1)
  return BigInt(Math.max(Math.round(all - pageSize / (share || 1)), 0))
}

/** The position of the page, such as `21–40 of 300`. */
function rangeOf(view: View, { data, isPlaceholderData }: PageQuery, next: bigint | undefined, counts?: Counts) {
  if (!data || isPlaceholderData) return texts.loading
  if (data.length === 0) return texts.none
  const pets = Math.min(data.length, pageSize)
  const total = totalOf(counts, view.status)
  const first = isKnown(view)
    ? view.earlierCursors.length * pageSize + 1
    : next === undefined && total?.isExact
      ? total.count - pets + 1
      : undefined
  if (first === undefined) return texts.after(pets, view.cursor)
  const last = first + pets - 1
  const range = texts.range(first, last)
  // A pet that another client added may not be counted yet.
  return total && total.count >= last ? texts.rangeOf(range, texts.count(total.count, total.isExact)) : range
}

/** When the list was loaded, and why it may be out of date. */
function Age({ page }: Pick<ListFooterProps, 'page'>) {
  const { data, dataUpdatedAt, failureReason, failureCount, isPlaceholderData } = page
  const refresh = useRefresh()
  const now = useNow()
  if (!data || isPlaceholderData) return null
  const age = texts.age(Math.max(Math.round((now - dataUpdatedAt) / 1_000), 0))
  const problem = failureReason && problemOf(failureReason)
  return (
    <div className="list-age" data-out-of-date={problem !== null || undefined}>
      <IconButton label={texts.refresh} size="sm" onClick={refresh}>
        <IconRefresh />
      </IconButton>
      {problem && <IconAlertTriangle />}
      <span className="number">{problem ? texts.outOfDate(age) : texts.updated(age)}</span>
      {problem && (
        <span role="status">
          {problem.message} <Retrying attempt={failureCount} seconds={problem.retryAfter} />
        </span>
      )}
    </div>
  )
}
