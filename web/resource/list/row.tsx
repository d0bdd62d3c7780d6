import { useQueryClient } from '@tanstack/react-query'
import { type FocusEvent, type KeyboardEvent, type MouseEvent, memo, type RefObject, useState } from 'react'
import { IconButton } from '../../components/buttons.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconCode } from '../../components/icons.tsx'
import { outerSpacesOf, Value, valueAttributes } from '../../components/value.tsx'
import { type Field, type Item, textOf } from '../../resource.ts'
import { messages } from '../../texts/messages.ts'
import { itemCalls } from '../calls.ts'
import { type Page, usePage } from '../use-page.ts'
import { hrefOf, openHere } from '../view.ts'

interface RowProps extends Pick<Page, 'resource' | 'texts' | 'queries' | 'open'> {
  item: Item
  columns: Field[]
  isNew: boolean
  isChanged: boolean
  isSelected: boolean
  /** Whether the panel shows the item. */
  isShown: boolean
  rows: RefObject<Map<bigint, HTMLElement>> | undefined
  onSelect: Page['selection']['toggle']
}

/** Without `usePage`: only the rows that change are rendered again, of up to 100. */
export const Row = memo(function Row(props: RowProps) {
  const { item, columns, isNew, isChanged, isSelected, isShown, resource, texts, queries, rows, open, onSelect } = props
  const queryClient = useQueryClient()
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const { id } = item
  const isActive = rows !== undefined && (isHovered || isFocused)
  const prepareToOpen = () => void queryClient.prefetchQuery(queries.item(id, queryClient))
  return (
    <tr
      ref={keepFocus}
      data-new={isNew || undefined}
      data-changed={isChanged || undefined}
      data-selected={isSelected || undefined}
      // The link in it is for the keyboard.
      onClick={(event) => openUnlessSelected(event, () => open({ kind: 'item', id }))}
      onPointerEnter={({ pointerType }) => {
        setHovered(pointerType === 'mouse')
        prepareToOpen()
      }}
      onPointerLeave={() => setHovered(false)}
      onFocus={({ target }) => {
        setFocused(target.matches(':focus-visible'))
        prepareToOpen()
      }}
      onKeyDown={moveInRow}
      onBlur={(event) => !isInside(event) && setFocused(false)}
    >
      {rows && (
        <SelectCell
          label={texts.list.select(textOf(item[resource.title]))}
          isSelected={isSelected}
          onSelect={(isRange) => onSelect(item, isRange)}
        />
      )}
      {columns.map((field, column) => {
        const value = <Value field={field} value={item[field.name]} />
        return (
          <td
            key={field.name}
            {...valueAttributes(field)}
            data-title={field.name === resource.title || undefined}
            data-label={labelOf(field)}
          >
            {field.name !== resource.title ? (
              value
            ) : (
              <a
                ref={(link) => {
                  if (link) rows?.current.set(id, link)
                  return () => void rows?.current.delete(id)
                }}
                href={hrefOf(resource, { item: id })}
                aria-current={isShown || undefined}
                title={hiddenPartOf(textOf(item[field.name]))}
                // Dragging selects text instead.
                draggable={false}
              >
                {value}
              </a>
            )}
            {isActive && column === columns.length - 1 && <RowActions item={item} />}
          </td>
        )
      })}
    </tr>
  )
})

interface SelectCellProps {
  label: string
  isSelected: boolean
  onSelect: (isRange: boolean) => void
}

/** Not a stop of the Tab key: the left arrow reaches it from the link, and the keys `x` and Space select the row. */
function SelectCell({ label, isSelected, onSelect }: SelectCellProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: it only keeps the row from opening.
    <td data-kind="select" onClick={(event) => event.stopPropagation()} onMouseDown={keepTextUnselected}>
      <label>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={label}
          checked={isSelected}
          // The event is a click, also by the keyboard.
          onChange={({ nativeEvent }) => onSelect('shiftKey' in nativeEvent && !!nativeEvent.shiftKey)}
        />
      </label>
    </td>
  )
}

/** The actions of the row that is hovered or has the focus. The right arrow reaches them from the link. */
function RowActions({ item }: { item: Item }) {
  const { resource, texts, refs, open } = usePage()
  const { id } = item

  function openRequest() {
    // Gets the focus back, because the actions are gone by then.
    refs.rows.current.get(id)?.focus()
    open({ kind: 'request', calls: itemCalls({ resource, texts, item: { data: item, failureReason: null } }, id) })
  }

  return (
    // biome-ignore lint/a11y: it only keeps the row from opening.
    <span className="row-actions" onClick={(event) => event.stopPropagation()}>
      <CopyButton
        tabIndex={-1}
        label={texts.item.copyLink}
        value={new URL(hrefOf(resource, { item: id }), document.baseURI).href}
      />
      <IconButton tabIndex={-1} label={messages.request.open} size="xs" onClick={openRequest}>
        <IconCode />
      </IconButton>
    </span>
  )
}

/** The end of a selection in the row is a click, too. */
function openUnlessSelected(event: MouseEvent, open: () => void): void {
  const selection = getSelection()
  const isSelected = selection && !selection.isCollapsed && selection.containsNode(event.currentTarget, true)
  if (isSelected && event.detail > 0) event.preventDefault()
  else openHere(event, open)
}

/** The left and the right arrow move within the row, so that the Tab key stops only once at each row. */
function moveInRow({ key, target, currentTarget }: KeyboardEvent): void {
  if ((key !== 'ArrowLeft' && key !== 'ArrowRight') || !(target instanceof HTMLElement)) return
  const stops = [...currentTarget.querySelectorAll<HTMLElement>('input, a, button')]
  stops[stops.indexOf(target) + (key === 'ArrowRight' ? 1 : -1)]?.focus()
}

/** A click with Shift would select the text of the rows between. */
function keepTextUnselected(event: MouseEvent): void {
  if (event.shiftKey) event.preventDefault()
}

function isInside({ currentTarget, relatedTarget }: FocusEvent): boolean {
  return relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
}

/** A longer title may be cut off. */
const shortTitle = 40

/** The title, if the row may not show all of it. */
function hiddenPartOf(title: string): string | undefined {
  const { start, end } = outerSpacesOf(title)
  return title.length <= shortTitle && start === 0 && end === 0 ? undefined : title
}

/** What a narrow screen shows before a number, instead of the header. */
function labelOf({ kind, label }: Field): string | undefined {
  if (kind === 'id') return '#'
  return kind === 'integer' ? `${label} ` : undefined
}
