import { capitalized, countOf, countText, joined, number } from '../../formats.ts'
import './cursor-footer.css'
import { Button, IconButton } from '../../components/buttons.tsx'
import { focusedRow, keepFocus, rowOf } from '../../components/focus.ts'
import { hint } from '../../components/hint.ts'
import { IconChevronLeft, IconChevronLeftPipe, IconChevronRight } from '../../components/icons.tsx'
import { useShortcuts } from '../../components/keyboard.ts'
import { loadLater } from '../../components/load-later.tsx'
import { problemOf } from '../../problem.ts'
import { useList, useResource, useTotal } from '../page-context.ts'
import { maxLimit } from '../search.ts'
import { fittingSize, pageSizes, rememberSize } from '../view.ts'

const OutOfDate = loadLater(async () => (await import('./lines.tsx')).OutOfDate)

/** Which items the list shows, whether they are out of date, and the other pages. */
export function CursorFooter() {
  const { view, list } = useList()
  const range = useRange()
  const isEmpty = view.cursor === 0n && list.items?.length === 0
  // The message in place of the list says why there is nothing to show.
  if (list.failureReason && !list.items) return null
  return (
    <div className="list-footer">
      <Arrived />
      <p className="list-range number" role="status">
        {range}
      </p>
      {/* Not announced, because it changes all the time. */}
      {list.isSearching && <span className="number">{`${number(list.data?.searched ?? 0)} compared`}</span>}
      {list.items && list.failureReason && <OutOfDate />}
      {!isEmpty && <SizeSelect />}
      {!isEmpty && <Pager />}
    </div>
  )
}

/** Leads to what other clients have added to another page. */
function Arrived() {
  const { turnTo } = useResource()
  const { view, list } = useList()
  const { arrived, newest } = list
  const text = arrived.length > 0 && `${countText({ count: arrived.length, isExact: arrived.length < maxLimit })} new`
  return (
    <div className="arrived" role="status">
      {text && (
        <Button ref={keepFocus} size="xs" onClick={() => turnTo(view.order ? {} : { cursor: newest ?? 0n })}>
          {text}
        </Button>
      )}
    </div>
  )
}

/** The page starts with the same item afterwards. */
function SizeSelect() {
  const { resource, turnTo } = useResource()
  const { view } = useList()
  const { cursor, size, before } = view
  return (
    <select
      className="page-size"
      aria-label={`${capitalized(resource.many)} per page`}
      value={size}
      onChange={(event) => {
        const chosen = Number(event.currentTarget.value)
        rememberSize(chosen)
        turnTo({ cursor, before, size: chosen })
      }}
    >
      {pageSizes().map((each) => (
        <option key={each} value={each}>
          {each === fittingSize() && each > 20 ? `Fits: ${each}` : `${each} / page`}
        </option>
      ))}
    </select>
  )
}

function Pager() {
  const { turnTo } = useResource()
  const { view, list, turns } = useList()
  const { showPrevious, showNext, isPending, error } = turns
  /** The keys move the focus from a row to the first one of the other page. */
  function turn(show: typeof showNext) {
    const isInRow = focusedRow(list.rows) !== undefined
    show?.(([first]) => isInRow && first && rowOf(first.id)?.focus())
  }
  useShortcuts({ previousPage: () => turn(showPrevious), nextPage: () => turn(showNext) })
  return (
    <nav className="pager" aria-label="Pages" aria-busy={isPending}>
      {error && <span role="alert">{problemOf(error).message}</span>}
      <IconButton label="First page" isDisabled={view.cursor === 0n} onClick={() => turnTo({})}>
        <IconChevronLeftPipe />
      </IconButton>
      <Button
        variant="default"
        icon={<IconChevronLeft />}
        isDisabled={!showPrevious}
        {...hint('Previous page', 'previousPage')}
        onClick={() => showPrevious?.()}
      >
        Previous
      </Button>
      <Button
        variant="default"
        endIcon={<IconChevronRight />}
        isDisabled={!showNext}
        {...hint('Next page', 'nextPage')}
        onClick={() => showNext?.()}
      >
        Next
      </Button>
    </nav>
  )
}

/** The position of the page, such as `21–40 of 300`. */
function useRange(): string {
  const { resource } = useResource()
  const { view, list } = useList()
  const counted = useTotal()
  const { count, next, isSearching, isScanned } = list
  if (count === undefined) return 'Loading…'
  if (isSearching) return `${number(count)} found, searching…`
  if (count === 0) return `No ${resource.many}`
  const isAtEnd = next === undefined
  const fromEnd = isAtEnd && !isScanned && counted?.isExact ? counted.count - count : undefined
  const start = view.before ?? fromEnd
  const isCounted = !isScanned && resource.counted !== undefined
  const followed = (text: string) => (isAtEnd || isCounted ? text : `${text}, more follow`)
  const [first] = list.items ?? []
  const from = !isScanned && first !== undefined && `from id ${first.id}`
  if (start === undefined) return followed(joined(', ', [countOf(resource, count), from]))
  const last = start + count
  const total = isScanned && isAtEnd ? { count: last, isExact: true } : counted
  const range = count === 1 ? number(last) : `${number(start + 1)}–${number(last)}`
  // An item that another client added may not be counted yet.
  if (!total || total.count < last) return followed(range)
  const isMore = isScanned && !total.isExact
  return `${range} of ${isMore ? `more than ${number(total.count)}` : countText(total)}`
}
