import './read-only.css'
import { hint } from '../components/hint.ts'
import { editTextsOf } from '../texts/edits.ts'
import { useAccess } from './access.ts'
import { useResource } from './page-context.ts'

/** What a key that may only read cannot do is its hint. A finger, which sees none, opens it as a notice. */
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
