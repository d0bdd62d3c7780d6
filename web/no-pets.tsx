import { Button } from '@mantine/core'
import { Message } from './message.tsx'
import { show, type View } from './view.ts'

interface NoPetsProps {
  view: View
  onAdd: () => void
  /** Called when other pets are asked for. */
  onTurn: () => void
}

/** Why the list is empty, and what can be done about it. */
export function NoPets({ view, onAdd, onTurn }: NoPetsProps) {
  function turnTo(other: Partial<View>) {
    show({ ...view, ...other })
    onTurn()
  }

  if (view.after > 0n) {
    return (
      <Message title="There are no more pets" text="This page is behind the last one.">
        <Button variant="default" onClick={() => turnTo({ after: 0n, trail: [] })}>
          First page
        </Button>
      </Message>
    )
  }
  if (view.status) {
    return (
      <Message title={`No pet is ${view.status}`}>
        <Button variant="default" onClick={() => turnTo({ status: undefined })}>
          Show all
        </Button>
      </Message>
    )
  }
  return (
    <Message title="There are no pets yet" text="Those that you add are listed here.">
      <Button onClick={onAdd}>Add the first one</Button>
    </Message>
  )
}
