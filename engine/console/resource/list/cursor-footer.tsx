import './cursor-footer.css'
import { Button, IconButton } from '../../components/buttons.tsx'
import { Retrying } from '../../components/failure.tsx'
import { hint } from '../../components/hint.ts'
import {
  IconAlertTriangle,
  IconChevronLeft,
  IconChevronLeftPipe,
  IconChevronRight,
  IconRefresh,
} from '../../components/icons.tsx'
import { useNow } from '../../components/use-now.ts'
import { useShortcuts } from '../../keyboard.ts'
import { problemOf } from '../../problem.ts'
import { ShowRequest } from '../../requests/open-requests.tsx'
import { foundOf, totalOf, useRefresh } from '../queries.ts'
import { maxLimit } from '../search.ts'
import { type Page, usePage } from '../use-page.ts'
import { type PageSize, pageSizes, rememberSize } from '../view.ts'

/** Which items the list shows, how old they are, and the other pages. */
export function CursorFooter() {
  const page = usePage()
  const { view, list } = page
  const isEmpty = view.cursor === 0n && list.items?.length === 0
  // The message in place of the list says why there is nothing to show.
  if (list.failureReason && !list.items) return null
  return (
    <div className="list-footer">
      <Arrived />
      <p className="list-range number" role="status">
        {rangeOf(page)}
      </p>
      {/* Not announced, because it changes all the time. */}
      {list.isSearching && <span className="number">{page.texts.list.searched(list.data?.searched ?? 0)}</span>}
      <Age />
      {!isEmpty && (
        <div className="list-options">
          <SizeSelect />
        </div>
      )}
      {!isEmpty && <Pager />}
    </div>
  )
}

/** Leads to what other clients have added to another page. */
function Arrived() {
  const { texts, view, list, turnTo } = usePage()
  const { arrived, newest } = list
  const text = arrived.length > 0 && texts.list.arrived(arrived.length, arrived.length < maxLimit)
  return (
    <div className="arrived" role="status">
      {text && (
        <Button size="xs" onClick={() => turnTo(view.order ? {} : { cursor: newest ?? 0n })}>
          {text}
        </Button>
      )}
    </div>
  )
}

/** The page starts with the same item afterwards. */
function SizeSelect() {
  const { texts, view, turnTo } = usePage()
  const { cursor, size, before } = view
  return (
    <select
      className="list-option"
      aria-label={texts.list.pageSize}
      value={size}
      onChange={(event) => {
        // Safe: the options are page sizes.
        const chosen = Number(event.currentTarget.value) as PageSize
        rememberSize(chosen)
        turnTo({ cursor, before, size: chosen })
      }}
    >
      {pageSizes.map((each) => (
        <option key={each} value={each}>
          {texts.list.perPage(each)}
        </option>
      ))}
    </select>
  )
}

function Pager() {
  const page = usePage()
  const { view, turns, turnTo } = page
  const { showPrevious, showNext, isPending, error } = turns
  const texts = page.texts.list
  useShortcuts({ previousPage: () => showPrevious?.(), nextPage: () => showNext?.() })
  return (
    <nav className="pager" aria-label={texts.pages} aria-busy={isPending}>
      {error && <span role="alert">{problemOf(error).message}</span>}
      <IconButton label={texts.first} isDisabled={view.cursor === 0n} onClick={() => turnTo({})}>
        <IconChevronLeftPipe />
      </IconButton>
      <Button
        variant="default"
        icon={<IconChevronLeft />}
        isDisabled={!showPrevious}
        {...hint(texts.previousPage, 'previousPage')}
        onClick={() => showPrevious?.()}
      >
        {texts.previous}
      </Button>
      <Button
        variant="default"
        endIcon={<IconChevronRight />}
        isDisabled={!showNext}
        {...hint(texts.nextPage, 'nextPage')}
        onClick={() => showNext?.()}
      >
        {texts.next}
      </Button>
    </nav>
  )
}

/** The position of the page, such as `21–40 of 300`. */
function rangeOf({ resource, texts: { list: texts }, view, list, counts }: Page): string {
  const { items, next, isSearching } = list
  if (!items) return texts.loading
  if (isSearching) return texts.searching(items.length)
  if (items.length === 0) return texts.none
  const { search, order, cursor, before } = view
  const isAtEnd = next === undefined
  const counted = search === undefined ? totalOf(resource, counts, view.filter) : foundOf(list, view)
  const fromEnd = isAtEnd && search === undefined && counted?.isExact ? counted.count - items.length : undefined
  const start = before ?? fromEnd
  const isCounted = search === undefined && resource.counted !== undefined
  const totalText = search === undefined ? texts.count : texts.moreThan
  const followed = (text: string) => (isAtEnd || isCounted ? text : texts.followed(text))
  if (start === undefined) return followed(texts.after(items.length, search === undefined ? cursor : undefined, order))
  const first = start + 1
  const last = first + items.length - 1
  const total = search !== undefined && isAtEnd ? { count: last, isExact: true } : counted
  const range = texts.range(first, last)
  // An item that another client added may not be counted yet.
  return total && total.count >= last ? texts.rangeOf(range, totalText(total.count, total.isExact)) : followed(range)
}

/** When the list was loaded, and why it may be out of date. */
function Age() {
  const {
    texts: { list: texts },
    queries,
    list,
  } = usePage()
  const { items, dataUpdatedAt, failureReason, failureCount } = list
  const refresh = useRefresh(queries)
  const now = useNow()
  if (!items) return null
  const age = texts.age(Math.max(Math.round((now - dataUpdatedAt) / 1_000), 0))
  const problem = failureReason && problemOf(failureReason)
  return (
    <div className="list-age" data-out-of-date={problem !== null || undefined}>
      <IconButton label={texts.refresh} size="xs" onClick={refresh}>
        <IconRefresh />
      </IconButton>
      {problem && <IconAlertTriangle />}
      <span className="number">{problem ? texts.outOfDate(age) : texts.updated(age)}</span>
      {problem && (
        <span role="status">
          {problem.message} <Retrying attempt={failureCount} seconds={problem.retryAfter} />
        </span>
      )}
      {problem && <ShowRequest requestId={problem.requestId} />}
    </div>
  )
}
