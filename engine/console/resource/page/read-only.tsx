import './read-only.css'
import { hint } from '../../components/hint.ts'
import { useAccess } from '../access.ts'
import { useResource } from '../page-context.ts'

/** Says that the key may only read. Its hint says what that excludes. A touch screen has no hints: a tap shows it as a notice. */
export function ReadOnly() {
  const { resource, open } = useResource()
  const { hasHistory } = useAccess()
  const history = hasHistory ? ' It cannot show who changed what.' : ''
  const unchanged = `Your API key can only show ${resource.many}.${history}`
  return (
    <button
      type="button"
      className="read-only"
      aria-description={unchanged}
      {...hint(unchanged)}
      onClick={() => open({ kind: 'editMany', edits: [], same: 0, unchanged, startsAtOnce: true })}
    >
      <span>Read only</span>
    </button>
  )
}
