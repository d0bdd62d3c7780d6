import { type MouseEvent, memo } from 'react'
import { textOf } from '#service/fields'
import { choiceIdOf, keepFocus, rowIdOf } from '../../components/focus.ts'
import { IconChevronDown } from '../../components/icons.tsx'
import { outerSpacesOf, Value, valueAttributes } from '../../components/value.tsx'
import { shownText } from '../../formats.ts'
import { type Field, type Item, isCompared, type Values } from '../../resource.ts'
import { useResource } from '../page-context.ts'
import type { Selection } from '../selection.ts'
import { hrefOf, openHere } from '../view.ts'
import { FilterValue } from './filter-chips.tsx'

interface RowProps {
  item: Item
  columns: Field[]
  isChanged: boolean
  isSelected: boolean
  /** Whether an edit of the item is not stored yet. */
  isSaving: boolean
  /** Whether the item is no longer in this part of the list. */
  hasLeft: boolean
  /** Whether the panel shows the item. */
  isShown: boolean
  /** Whether the Tab key reaches the row. */
  isTabStop: boolean
  /** What a search looks for in each field. */
  found: Values | undefined
  onSelect: Selection['toggle']
  /** Opens the menu for a field with choices. Undefined if the item cannot be changed. */
  onOpenMenu: ((at: { id: bigint; field: Field }) => void) | undefined
}

/** Without `useList`: only the rows that change are rendered again, of up to 100. */
export const Row = memo(function Row(props: RowProps) {
  const { item, columns, isChanged, isSelected, isSaving, hasLeft, isShown, isTabStop, found } = props
  const { onSelect, onOpenMenu } = props
  const { resource, open } = useResource()
  const { id } = item
  const title = textOf(item[resource.title])
  return (
    <tr
      ref={keepFocus}
      data-changed={isChanged || undefined}
      data-selected={isSelected || undefined}
      data-saving={isSaving || undefined}
      data-left={hasLeft || undefined}
      title={hasLeft ? 'No longer matches' : undefined}
      // The link in it is for the keyboard.
      onClick={(event) => openUnlessSelected(event, () => open({ kind: 'item', id }))}
    >
      <SelectCell
        label={`Select ${title}`}
        isSelected={isSelected}
        isTabStop={isTabStop}
        onSelect={(isRange) => onSelect(item, isRange)}
      />
      {columns.map((field) => {
        const raw = item[field.name]
        const value =
          isCompared(field) && raw !== undefined ? (
            <FilterValue field={field} value={raw} found={found?.[field.name]} isTabStop={isTabStop} />
          ) : (
            <Value field={field} value={raw} found={found?.[field.name]} />
          )
        return (
          <td
            key={field.name}
            {...valueAttributes(field)}
            {...(field.name === resource.title && { 'data-title': true, role: 'rowheader' })}
            data-label={labelOf(field)}
          >
            {field.choices && onOpenMenu && field.presence !== 'generated' ? (
              <button
                type="button"
                id={choiceIdOf(id, field)}
                className="choice-button"
                tabIndex={isTabStop ? 0 : -1}
                aria-haspopup="menu"
                aria-label={`${field.label} of ${title}: ${shownText(field, raw)}`}
                onClick={(event) => {
                  event.stopPropagation()
                  onOpenMenu({ id, field })
                }}
              >
                {value}
                <IconChevronDown />
              </button>
            ) : field.name !== resource.title ? (
              value
            ) : (
              <a
                id={rowIdOf(id)}
                href={hrefOf(resource, { item: id })}
                tabIndex={isTabStop ? 0 : -1}
                aria-current={isShown || undefined}
                aria-description={isSaving ? 'Not saved yet' : hasLeft ? 'No longer matches' : undefined}
                title={hiddenPartOf(title)}
                // Dragging selects text instead.
                draggable={false}
              >
                {value}
              </a>
            )}
          </td>
        )
      })}
    </tr>
  )
})

interface SelectCellProps {
  label: string
  isSelected: boolean
  isTabStop: boolean
  onSelect: (isRange: boolean) => void
}

/** The keys `x` and Space select the row, too. */
function SelectCell({ label, isSelected, isTabStop, onSelect }: SelectCellProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: it only keeps the row from opening.
    <td data-kind="select" onClick={(event) => event.stopPropagation()} onMouseDown={keepTextUnselected}>
      <label>
        <input
          type="checkbox"
          tabIndex={isTabStop ? 0 : -1}
          aria-label={label}
          checked={isSelected}
          // The event is a click, also by the keyboard.
          onChange={({ nativeEvent }) => onSelect('shiftKey' in nativeEvent && !!nativeEvent.shiftKey)}
        />
      </label>
    </td>
  )
}

/** The end of a selection in the row is a click, too. */
function openUnlessSelected(event: MouseEvent, open: () => void): void {
  const selection = getSelection()
  const isSelected = selection && !selection.isCollapsed && selection.containsNode(event.currentTarget, true)
  if (isSelected && event.detail > 0) event.preventDefault()
  else openHere(event, open)
}

/** A click with Shift would select the text of the rows between. Without that, it does not move the focus either. */
function keepTextUnselected(event: MouseEvent): void {
  if (!event.shiftKey) return
  event.preventDefault()
  event.currentTarget.querySelector('input')?.focus()
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
