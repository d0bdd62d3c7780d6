import type { Pet } from '../client/index.ts'
import { pageSize } from './queries.ts'
import { SteadyButton } from './steady-button.tsx'
import { show, type View } from './view.ts'

interface PagerProps {
  label: string
  view: View
  /** The pets of the page, and one more if there is a next page. */
  page: Pet[] | undefined
  /** Called when another page is asked for. */
  onTurn?: () => void
}

export function Pager({ label, view, page, onTurn }: PagerProps) {
  const { after, trail } = view
  const last = page && page.length > pageSize ? page[pageSize - 1] : undefined
  const isFirst = after === 0n

  function turnTo(place: Pick<View, 'after' | 'trail'>) {
    show({ ...view, ...place })
    onTurn?.()
  }

  return (
    <nav className="pager" aria-label={label}>
      <SteadyButton variant="default" isOff={isFirst} onClick={() => turnTo({ after: 0n, trail: [] })}>
        First
      </SteadyButton>
      <SteadyButton
        variant="default"
        isOff={isFirst || trail.length === 0}
        onClick={() => turnTo({ after: trail.at(-1) ?? 0n, trail: trail.slice(0, -1) })}
      >
        Previous
      </SteadyButton>
      <SteadyButton
        variant="default"
        isOff={!last}
        onClick={() => last && turnTo({ after: last.id, trail: [...trail, after] })}
      >
        Next
      </SteadyButton>
    </nav>
  )
}
