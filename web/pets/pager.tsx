import type { Pet } from '../../client/index.ts'
import { SteadyButton } from '../components/steady-button.tsx'
import { pageSize } from './queries.ts'
import { show, type View } from './view.ts'

interface PagerProps {
  label: string
  view: View
  /** The pets of the page, and one more if there is a next page. */
  page: Pet[] | undefined
  /** Called when the user turns the page. */
  onTurn?: () => void
}

export function Pager({ label, view, page, onTurn }: PagerProps) {
  const { cursor, earlierCursors } = view
  const last = page && page.length > pageSize ? page[pageSize - 1] : undefined
  const isFirst = cursor === 0n

  function turnTo(place: Pick<View, 'cursor' | 'earlierCursors'>) {
    show({ ...view, ...place })
    onTurn?.()
  }

  return (
    <nav className="pager" aria-label={label}>
      <SteadyButton variant="default" isDisabled={isFirst} onClick={() => turnTo({ cursor: 0n, earlierCursors: [] })}>
        First
      </SteadyButton>
      <SteadyButton
        variant="default"
        isDisabled={isFirst || earlierCursors.length === 0}
        onClick={() => turnTo({ cursor: earlierCursors.at(-1) ?? 0n, earlierCursors: earlierCursors.slice(0, -1) })}
      >
        Previous
      </SteadyButton>
      <SteadyButton
        variant="default"
        isDisabled={!last}
        onClick={() => last && turnTo({ cursor: last.id, earlierCursors: [...earlierCursors, cursor] })}
      >
        Next
      </SteadyButton>
    </nav>
  )
}
