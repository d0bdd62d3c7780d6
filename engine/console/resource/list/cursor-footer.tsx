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
  const { texts } = useResource()
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
      {list.isSearching && <span className="number">{texts.list.searched(list.data?.searched ?? 0)}</span>}
      {list.items && list.failureReason && <OutOfDate />}
      {!isEmpty && <SizeSelect />}
      {!isEmpty && <Pager />}
    </div>
  )
}

/** Leads to what other clients have added to another page. */
function Arrived() {
  const { texts, turnTo } = useResource()
  const { view, list } = useList()
  const { arrived, newest } = list
  const text = arrived.length > 0 && texts.list.arrived(arrived.length, arrived.length < maxLimit)
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
  const { texts, turnTo } = useResource()
  const { view } = useList()
  const { cursor, size, before } = view
  return (
    <select
      className="page-size"
      aria-label={texts.list.pageSize}
      value={size}
      onChange={(event) => {
        const chosen = Number(event.currentTarget.value)
        rememberSize(chosen)
        turnTo({ cursor, before, size: chosen })
      }}
    >
      {pageSizes().map((each) => (
        <option key={each} value={each}>
          {texts.list.perPage(each, each === fittingSize() && each > 20)}
        </option>
      ))}
    </select>
  )
}

function Pager() {
  const { texts: pageTexts, turnTo } = useResource()
  const texts = pageTexts.list
  const { view, list, turns } = useList()
  const { showPrevious, showNext, isPending, error } = turns
  /** The keys move the focus from a row to the first one of the other page. */
  function turn(show: typeof showNext) {
    const isInRow = focusedRow(list.rows) !== undefined
    show?.(([first]) => isInRow && first && rowOf(first.id)?.focus())
  }
  useShortcuts({ previousPage: () => turn(showPrevious), nextPage: () => turn(showNext) })
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
function useRange(): string {
  const { resource, texts: pageTexts } = useResource()
  const { view, list } = useList()
  const counted = useTotal()
  const texts = pageTexts.list
  const { count, next, isSearching, isScanned } = list
  if (count === undefined) return texts.loading
  if (isSearching) return texts.searching(count)
  if (count === 0) return texts.none
  const isAtEnd = next === undefined
  const fromEnd = isAtEnd && !isScanned && counted?.isExact ? counted.count - count : undefined
  const start = view.before ?? fromEnd
  const isCounted = !isScanned && resource.counted !== undefined
  const totalText = isScanned ? texts.moreThan : texts.count
  const followed = (text: string) => (isAtEnd || isCounted ? text : texts.followed(text))
  if (start === undefined) return followed(texts.from(count, isScanned ? undefined : list.items?.[0]?.id))
  const first = start + 1
  const last = first + count - 1
  const total = isScanned && isAtEnd ? { count: last, isExact: true } : counted
  const range = texts.range(first, last)
  // An item that another client added may not be counted yet.
  return total && total.count >= last ? texts.rangeOf(range, totalText(total.count, total.isExact)) : followed(range)
}
