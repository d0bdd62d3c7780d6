import '@mantine/core/styles/VisuallyHidden.layer.css'
import '../components/value.css'
import './status-filter.css'
import { VisuallyHidden } from '@mantine/core'
import type { PetStatus } from '../../client/index.ts'
import { hint } from '../components/hint.ts'
import { messages } from './messages.ts'
import { isPetStatus, petStatuses, statusNames } from './pet.ts'
import { type Counts, totalOf } from './queries.ts'
import { hrefOf, openHere } from './view.ts'

interface StatusFilterProps {
  status: PetStatus | undefined
  /** Undefined until the pets are counted. */
  counts: Counts | undefined
  onChange: (status: PetStatus | undefined) => void
}

/** Filters by status and shows the number of pets of each status. */
export function StatusFilter({ status, counts, onChange }: StatusFilterProps) {
  return (
    <div className="status-filter" role="radiogroup" aria-label={messages.list.filter}>
      {[undefined, ...petStatuses].map((each) => (
        <label key={each ?? 'all'} className="status-chip" data-choice={each}>
          <input
            type="radio"
            name="status"
            value={each ?? 'all'}
            checked={each === status}
            onChange={({ currentTarget: { value } }) => onChange(isPetStatus(value) ? value : undefined)}
          />
          {each && <span className="choice-dot" />}
          <span>{each ? statusNames[each] : messages.list.all}</span>
          <Badge counts={counts} status={each} />
        </label>
      ))}
    </div>
  )
}

function Badge({ counts, status }: Omit<StatusFilterProps, 'onChange'>) {
  const text = textOf(counts, status)
  // A new element for each text. An element that changes its width would count as a layout shift.
  return (
    <span className="status-count number" key={text}>
      {text}
    </span>
  )
}

/** The statuses in proportion. Each part filters too; the keyboard uses the radio buttons above it. */
export function StatusBar({ status, counts, onChange }: StatusFilterProps) {
  return (
    <div className="status-bar">
      {counts &&
        petStatuses
          .filter((each) => counts[each].count > 0)
          .map((each) => {
            const label = messages.list.share(statusNames[each], textOf(counts, each))
            const target = each === status ? undefined : each
            return (
              <a
                key={each}
                href={hrefOf({ status: target })}
                tabIndex={-1}
                data-choice={each}
                data-faded={(status !== undefined && status !== each) || undefined}
                style={{ flexGrow: counts[each].count }}
                {...hint(label)}
                onClick={(event) => openHere(event, () => onChange(target))}
              >
                <VisuallyHidden>{label}</VisuallyHidden>
              </a>
            )
          })}
    </div>
  )
}

function textOf(counts: Counts | undefined, status: PetStatus | undefined): string {
  const total = totalOf(counts, status)
  return total ? messages.list.count(total.count, total.isExact) : '–'
}
