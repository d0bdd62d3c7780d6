import '../../components/value.css'
import './filter-chips.css'
import { useQuery } from '@tanstack/react-query'
import { Button } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { hint } from '../../components/hint.ts'
import { IconX } from '../../components/icons.tsx'
import { type Field, isCompared, parseChoice } from '../../resource.ts'
import { useList, useResource } from '../page-context.ts'
import { nameOf, totalOf } from '../queries.ts'
import { offersOf } from '../search.ts'
import { readView } from '../view.ts'

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

/** The filters without chips of their own, each with a button that removes it, and those that the search names. */
export function OtherFilters() {
  const { resource, texts, turnTo } = useResource()
  const { view } = useList()
  const { filter, search } = view
  const filtered = resource.fields.filter((field) => isCompared(field) && field.name in filter)
  const offers = offersOf(resource, search ?? '').filter(({ field }) => !(field.name in filter))
  return (
    <div className="other-filters">
      {filtered.map((field) => {
        const name = nameOf(field, filter[field.name])
        return (
          <Button
            key={field.name}
            ref={keepFocus}
            variant="default"
            aria-label={texts.list.clearFilter(name)}
            endIcon={<IconX />}
            onClick={() => turnTo({ filter: { ...filter, [field.name]: undefined } })}
          >
            {name}
          </Button>
        )
      })}
      <span role="status">
        {offers.map((offer) => (
          <Button
            key={String(offer.filter[offer.field.name])}
            ref={keepFocus}
            variant="subtle"
            onClick={() => turnTo({ filter: { ...filter, ...offer.filter }, search: offer.rest })}
          >
            {texts.list.filterBy(nameOf(offer.field, offer.filter[offer.field.name]))}
          </Button>
        ))}
      </span>
    </div>
  )
}

/** A value in a row that filters the list. The row is one stop of the Tab key, from which the next one leads here. */
export function FilterValue({ field, value, isTabStop }: { field: Field; value: unknown; isTabStop: boolean }) {
  const { resource, texts, turnTo } = useResource()
  return (
    <button
      type="button"
      className="filter-value"
      tabIndex={isTabStop ? 0 : -1}
      {...hint(texts.list.filterBy(nameOf(field, value)))}
      onClick={(event) => {
        // The row opens the item.
        event.stopPropagation()
        turnTo({ filter: { ...readView(resource).filter, [field.name]: value } })
      }}
    >
      {String(value)}
    </button>
  )
}
