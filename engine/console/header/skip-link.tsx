import './skip-link.css'
import { Button } from '../components/buttons.tsx'
import { focusAround } from '../components/focus.ts'
import type { Resource } from '../resource.ts'
import { editTextsOf } from '../texts/edits.ts'

/** The first stop of the Tab key. It moves the focus to the rows of the list, or to its title if there are none. */
export function SkipLink({ resource }: { resource: Resource }) {
  return (
    <Button className="skip-link" onClick={({ currentTarget }) => focusAround(currentTarget)}>
      {editTextsOf(resource).item.skip}
    </Button>
  )
}
