import '../../components/value.css'
import './filter-chips.css'
import { type Field, parseChoice, type Values } from '../../resource.ts'
import { totalOf } from '../queries.ts'
import { type Page, usePage } from '../use-page.ts'

/** Filters by a field with choices, and shows the number of items of each if the service counts them. */
export function FilterChips({ field }: { field: Field }) {
  const page = usePage()
  const { resource, texts, view } = page
  const { name, label, choices = {} } = field
  const isCounted = name === resource.counted
  const choose = (value: string) => page.turnTo({ filter: filterWith(view.filter, name, parseChoice(field, value)) })
  return (
    <div className="filter-chips" data-counted={isCounted || undefined} role="radiogroup" aria-label={label}>
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
          {isCounted && <Badge text={countText(page, choice)} />}
        </label>
      ))}
    </div>
  )
}

/** A new element for each text. An element that changes its width would count as a layout shift. */
function Badge({ text }: { text: string }) {
  return (
    <span className="chip-count number" key={text}>
      {text}
    </span>
  )
}

function countText({ resource, texts, counts }: Page, choice: string | undefined): string {
  const filter = choice === undefined || resource.counted === undefined ? {} : { [resource.counted]: choice }
  const total = totalOf(resource, counts, filter)
  return total ? texts.list.count(total.count, total.isExact) : '–'
}

/** The filter with another value of a field. Without a value, the field does not filter. */
function filterWith(filter: Values, name: string, value: unknown): Values {
  const { [name]: _former, ...others } = filter
  return value === undefined ? others : { ...others, [name]: value }
}
