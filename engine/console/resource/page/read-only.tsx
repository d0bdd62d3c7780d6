import './read-only.css'
import { hint } from '../../components/hint.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { useAccess } from '../access.ts'
import { useResource } from '../page-context.ts'

/** Says that the key may only read. Its hint says what that excludes. A touch screen has no hints: a tap shows it as a notice. */
export function ReadOnly() {
  const { resource, open } = useResource()
  const { hasHistory } = useAccess()
  const texts = editTextsOf(resource).edit
  const unchanged = texts.readOnly(hasHistory)
  return (
    <button
      type="button"
      className="read-only"
      aria-description={unchanged}
      {...hint(unchanged)}
      onClick={() => open({ kind: 'editMany', edits: [], same: 0, unchanged, startsAtOnce: true })}
    >
      {texts.readOnlyShort}
    </button>
  )
}
