import { Button } from '@mantine/core'
import { Message } from '../components/message.tsx'
import { show, type View } from './view.ts'

interface NoPetsProps {
  view: View
  onAdd: () => void
  /** Called before this message disappears. Moves the focus to the status line of the list. */
  onTurn: () => void
}

/** Explains why the list is empty and offers the next step. */
export function NoPets({ view, onAdd, onTurn }: NoPetsProps) {
  function turnTo(other: Partial<View>) {
    show({ ...view, ...other })
    onTurn()
  }

  if (view.cursor > 0n) {
    return (
      <Message title="There are no more pets" text="This page is after the last one.">
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
    // The dialog returns the focus to the status line when it closes, because this button is gone by then.
    onTurn()
    onAdd()
  }

  return (
    <Message title="There are no pets yet" text="Pets that you add appear here.">
      <Button onClick={addFirst}>Add the first one</Button>
    </Message>
  )
}
