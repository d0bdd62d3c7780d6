import './filter-chips.css'
import { hint } from '../../components/hint.ts'
import { Value } from '../../components/value.tsx'
import { entriesOf, type Field, parseChoice } from '../../resource.ts'
import { useCounts, useList, useResource } from '../page-context.ts'
import { nameOf, totalOf } from '../queries.ts'
import { readView } from '../view.ts'

/** Filters by a field with choices, and shows the number of items of each if the service counts them all. */
export function FilterChips({ field }: { field: Field }) {
  const { resource, texts, turnTo } = useResource()
  const { view } = useList()
  const counts = useCounts()
  const { name, label, choices = {} } = field
  // The counts are those of the whole list.
  const isPart = view.search !== undefined || entriesOf(view.filter).some(([other]) => other !== name)
  const choose = (value: string) => turnTo({ filter: { ...view.filter, [name]: parseChoice(field, value) } })
  function countText(choice: string | undefined): string {
    if (isPart) return ''
    const total = totalOf(resource, counts, choice === undefined ? {} : { [name]: choice })
    return total ? texts.list.count(total.count, total.isExact) : '–'
  }

  return (
    <div className="filter-chips" role="radiogroup" aria-label={label}>
      {[undefined, ...Object.keys(choices)].map((choice) => (
        <label key={choice ?? 'all'} className="chip" data-choice={choice}>
          <input
            type="radio"
            name={name}
            value={choice ?? 'all'}
            checked={choice === (name in view.filter ? String(view.filter[name]) : undefined)}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          />
          {choice && <span className="choice-dot" />}
          <span>{choice ? choices[choice] : texts.list.all}</span>
          {/* It keeps its width without a count. An element that changes its width would count as a layout shift. */}
          {name === resource.counted && (
            <span className="chip-count number" key={countText(choice)}>
              {countText(choice)}
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
  const { resource, texts, turnTo } = useResource()
  const label = texts.list.filterBy(nameOf(field, value))
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
