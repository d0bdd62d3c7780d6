import { Button } from '@mantine/core'
import type { Pet } from '../client/index.ts'
import { pageSize } from './queries.ts'
import { show, type View } from './view.ts'

interface PagerProps {
  view: View
  /** The pets of the page, and one more if there is a next page. */
  page: Pet[] | undefined
}

export function Pager({ view, page }: PagerProps) {
  const { after, trail } = view
  const last = page && page.length > pageSize ? page[pageSize - 1] : undefined
  const isFirst = after === 0n
  return (
    <nav className="pager" aria-label="Pages">
      <PagerButton label="First" isOff={isFirst} onClick={() => show({ ...view, after: 0n, trail: [] })} />
      <PagerButton
        label="Previous"
        isOff={isFirst || trail.length === 0}
        onClick={() => show({ ...view, after: trail.at(-1) ?? 0n, trail: trail.slice(0, -1) })}
      />
      <PagerButton
        label="Next"
        isOff={!last}
        onClick={() => last && show({ ...view, after: last.id, trail: [...trail, after] })}
      />
    </nav>
  )
}

interface PagerButtonProps {
  label: string
  isOff: boolean
  onClick: () => void
}

/** A button that is off can still have the focus, so that whoever came to the end by the keyboard does not lose the place. */
function PagerButton({ label, isOff, onClick }: PagerButtonProps) {
  return (
    <Button
      variant="default"
      size="xs"
      aria-disabled={isOff}
      {...(isOff && { 'data-disabled': true })}
      onClick={() => !isOff && onClick()}
    >
      {label}
    </Button>
  )
}
