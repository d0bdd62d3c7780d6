import '../../components/value.css'
import './filter-chips.css'
import { useQuery } from '@tanstack/react-query'
import { type Field, parseChoice } from '../../resource.ts'
import { useList, useResource } from '../page-context.ts'
import { totalOf } from '../queries.ts'

/** Filters by a field with choices, and shows the number of items of each if the service counts them. */
export function FilterChips({ field }: { field: Field }) {
  const { resource, texts, queries, turnTo } = useResource()
  const { view } = useList()
  const counts = useQuery(queries.counts).data
  const { name, label, choices = {} } = field
  const isCounted = name === resource.counted
  const choose = (value: string) => turnTo({ filter: { ...view.filter, [name]: parseChoice(field, value) } })
  function countText(choice: string | undefined): string {
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
          {/* A new element for each text. An element that changes its width would count as a layout shift. */}
          {isCounted && (
            <span className="chip-count number" key={countText(choice)}>
              {countText(choice)}
            </span>
          )}
        </label>
      ))}
    </div>
  )
}
