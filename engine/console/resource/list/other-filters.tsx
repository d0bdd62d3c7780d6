import './other-filters.css'
import { wordsOf } from '#store/words'
import { Button } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { hint } from '../../components/hint.ts'
import { IconX } from '../../components/icons.tsx'
import { shownText } from '../../formats.ts'
import { type Field, isCompared, parseFilter, type Resource, type Values } from '../../resource.ts'
import { useList, useResource } from '../page-context.ts'
import { nameOf } from '../queries.ts'

/** The filters without chips of their own, each with a button that removes it, and those that the search names. */
export function OtherFilters() {
  const { resource, turnTo } = useResource()
  const { view, list } = useList()
  const { filter } = view
  const filtered = resource.fields.filter((field) => isCompared(field) && field.name in filter)
  return (
    <div className="other-filters">
      {filtered.map((field) => {
        const label = `Remove the filter ${nameOf(field, filter[field.name])}`
        return (
          <Button
            key={field.name}
            ref={keepFocus}
            variant="default"
            aria-label={label}
            {...hint(label)}
            endIcon={<IconX />}
            onClick={() => turnTo({ filter: { ...filter, [field.name]: undefined } })}
          >
            <span>{`${field.label} `}</span>
            <span translate="no">{shownText(field, filter[field.name])}</span>
          </Button>
        )
      })}
      <span role="status">{list.items?.length !== 0 && <Offers />}</span>
    </div>
  )
}

/** A button for each filter that the search names. If the search finds nothing, they are what most users want. */
export function Offers({ variant = 'subtle' }: { variant?: 'subtle' | 'filled' }) {
  const { resource, turnTo } = useResource()
  const { filter, search = '' } = useList().view
  return offersOf(resource, search)
    .filter(({ field }) => !(field.name in filter))
    .map((offer) => (
      <Button
        key={String(offer.filter[offer.field.name])}
        ref={keepFocus}
        variant={variant}
        className="offer"
        onClick={() => turnTo({ filter: { ...filter, ...offer.filter }, search: offer.rest })}
      >
        {`Filter by ${nameOf(offer.field, offer.filter[offer.field.name])}`}
      </Button>
    ))
}

/** A filter that words of a search name. */
export interface Offer {
  filter: Values
  field: Field
  /** The other words. */
  rest: string | undefined
}

/** The filters that a text names: by a choice, by a field and its integer, such as `size 7`, or by an integer among words. */
export function offersOf({ fields }: Resource, typed: string): Offer[] {
  const words = typed.trim().split(/\s+/)
  return fields.flatMap((field) => {
    const names = isCompared(field) ? [['', field.label]] : field.isFilter ? Object.entries(field.choices ?? {}) : []
    return names.flatMap(([choice = '', name = '']): Offer[] => {
      const named = wordsOf(name)
      const found = words.findIndex(
        (_, index) => wordsOf(words.slice(index, index + named.length).join(' ')).join(' ') === named.join(' '),
      )
      const isInteger = isCompared(field)
      // A search for an integer alone finds it in the field, too.
      const isAmongWords = found === -1 && isInteger && words.length > 1
      const start = isAmongWords ? words.findIndex((word) => parseFilter(field, word) !== undefined) : found
      const count = (isAmongWords ? 0 : named.length) + (isInteger ? 1 : 0)
      const value = parseFilter(field, isInteger ? (words[start + count - 1] ?? '') : choice)
      if (start === -1 || value === undefined) return []
      const others = words.toSpliced(start, count)
      return [{ filter: { [field.name]: value }, field, rest: others.join(' ') || undefined }]
    })
  })
}
