import './filter-chips.css'
import { useQuery } from '@tanstack/react-query'
import { hint } from '../../components/hint.ts'
import { Value } from '../../components/value.tsx'
import { countText } from '../../formats.ts'
import { entriesOf, type Field, parseChoice } from '../../resource.ts'
import { useCounts, useList, useResource, useTotal } from '../page-context.ts'
import { isWhole } from '../paged-list.ts'
import { countsOf, nameOf, totalOf } from '../queries.ts'
import { readView } from '../view.ts'

/** Filters by a field with choices, and shows the number of items of each: of the whole list, or of what a scan finds. */
export function FilterChips({ field }: { field: Field }) {
  const { resource, queries, turnTo } = useResource()
  const { view, list } = useList()
  const { name, label, choices = {} } = field
  const { [name]: chosen, ...filter } = view.filter
  const checked = chosen === undefined ? undefined : String(chosen)
  const isPart = view.search !== undefined || entriesOf(filter).length > 0
  // Of a page that has all of them, no further scan is needed.
  const isShown = chosen === undefined && isWhole(list, view)
  const isScanned = list.isScanned && list.items !== undefined && !list.isSearching
  const { data: found } = useQuery(queries.found({ filter, search: view.search }, isScanned && !isShown))
  const scanned = isShown ? { items: list.items ?? [], isExact: true } : found
  const all = useCounts()
  const counts = isPart ? isScanned && scanned && countsOf(resource, scanned) : all
  const shown = useTotal()
  const choose = (value: string) => turnTo({ filter: { ...view.filter, [name]: parseChoice(field, value) } })
  function textOfChoice(choice: string | undefined): string {
    if (isPart && !counts) return ''
    const counted = totalOf(resource, counts || undefined, choice === undefined ? {} : { [name]: choice })
    // The list may know more than the scan of all choices.
    const total = (isPart && choice === checked && shown) || counted
    // What was found of each choice says nothing about what is not counted.
    if (isPart && choice !== undefined && total === counted && !counted?.isExact) return ''
    return total ? countText(total) : '–'
  }

  return (
    <div className="filter-chips" role="radiogroup" aria-label={label}>
      {[undefined, ...Object.keys(choices)].map((choice) => (
        <label key={choice ?? 'all'} className="chip" data-choice={choice}>
          <input
            type="radio"
            name={name}
            value={choice ?? 'all'}
            checked={choice === checked}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          />
          {choice && <span className="choice-dot" />}
          <span>{choice ? choices[choice] : 'All'}</span>
          {/* It keeps its width without a count. An element that changes its width would count as a layout shift. */}
          {name === resource.counted && (
            <span className="chip-count number" key={textOfChoice(choice)}>
              {textOfChoice(choice)}
            </span>
          )}
        </label>
      ))}
    </div>
  )
}

interface FilterValueProps {
  field: Field
  value: unknown
  /** What a search looks for in the field. */
  found: unknown
  isTabStop: boolean
}

/**
 * A value in a row that filters the list, or shows all again. The row is one stop of the Tab key, from which the next one
 * leads here.
 */
export function FilterValue({ field, value, found, isTabStop }: FilterValueProps) {
  const { resource, turnTo } = useResource()
  const label = `Filter by ${nameOf(field, value)}`
  const isOn = () => readView(resource).filter[field.name] === value
  return (
    <button
      type="button"
      className="filter-value"
      tabIndex={isTabStop ? 0 : -1}
      aria-label={label}
      aria-pressed={isOn()}
      {...hint(label)}
      onClick={(event) => {
        // The row opens the item.
        event.stopPropagation()
        turnTo({ filter: { ...readView(resource).filter, [field.name]: isOn() ? undefined : value } })
      }}
    >
      <Value field={field} value={value} found={found} />
    </button>
  )
}
