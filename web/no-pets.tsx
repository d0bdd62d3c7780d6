import { Button } from '@mantine/core'
import { Message } from './message.tsx'
import { show, type View } from './view.ts'

interface NoPetsProps {
  view: View
  onAdd: () => void
  /** Called when other pets are asked for, or when there will be some: leads the focus to where they are told of. */
  onTurn: () => void
}

/** Why the list is empty, and what can be done about it. */
export function NoPets({ view, onAdd, onTurn }: NoPetsProps) {
  function turnTo(other: Partial<View>) {
    show({ ...view, ...other })
    onTurn()
  }

  if (view.cursor > 0n) {
    return (
      <Message title="There are no more pets" text="This page is behind the last one.">
        <Button variant="default" onClick={() => turnTo({ cursor: 0n, earlierCursors: [] })}>
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
  function addFirst() {
    // Where the focus comes back to when this button is gone.
    onTurn()
    onAdd()
  }

  return (
    <Message title="There are no pets yet" text="Those that you add are listed here.">
      <Button onClick={addFirst}>Add the first one</Button>
    </Message>
  )
}
