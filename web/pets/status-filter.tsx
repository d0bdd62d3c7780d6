import { SegmentedControl } from '@mantine/core'
import type { PetStatus } from '../../client/index.ts'
import { isPetStatus, petStatuses } from './pet-status.ts'
import { type Count, useCounts } from './queries.ts'

interface StatusFilterProps {
  status: PetStatus | undefined
  onChange: (status: PetStatus | undefined) => void
}

/** Filters by status and shows the number of pets of each status. */
export function StatusFilter({ status, onChange }: StatusFilterProps) {
  const counts = useCounts()
  return (
    <SegmentedControl
      aria-label="Which pets"
      value={status ?? 'all'}
      onChange={(value) => onChange(isPetStatus(value) ? value : undefined)}
      data={[
        { value: 'all', label: <Choice name="all" count={sum(petStatuses.map((each) => counts[each]))} /> },
        ...petStatuses.map((each) => ({ value: each, label: <Choice name={each} count={counts[each]} /> })),
      ]}
    />
  )
}

function Choice({ name, count }: { name: string; count: Count | undefined }) {
  const text = count ? `${count.pets.toLocaleString('en')}${count.isExact ? '' : '+'}` : '–'
  return (
    <span className="choice">
      <span>{name}</span>
      {/* A new element for each text. An element that changes its width would count as a layout shift. */}
      <strong key={text}>{text}</strong>
    </span>
  )
}

function sum(counts: (Count | undefined)[]): Count | undefined {
  return counts.reduce(
    (total, count) => total && count && { pets: total.pets + count.pets, isExact: total.isExact && count.isExact },
    { pets: 0, isExact: true },
  )
}
