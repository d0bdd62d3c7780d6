import type { ChangeEvent } from 'react'
import { number } from '../../formats.ts'
import { useResource } from '../page-context.ts'
import { type ChangesShown, readView, show } from '../view.ts'

const kinds = { all: 'All', update: 'Changed', remove: 'Removed' }

/** The form handles the changes of its controls. */
function byForm(): void {}

interface ChangeFilterProps {
  shown: ChangesShown
  /** The names of the API keys that have made the loaded changes. */
  keyNames: string[]
  /** The number of these changes, unless they are all. */
  loaded: number | undefined
}

/** Which changes are listed: by what was done, by the API key, and up to a day. The names of the entries are those of the URL. */
export function ChangeFilter({ shown: { changes, by = '', until }, keyNames, loaded }: ChangeFilterProps) {
  const { resource } = useResource()
  const names = [...new Set(by ? [...keyNames, by] : keyNames)].sort().map((name) => <option key={name}>{name}</option>)
  function filter({ currentTarget }: ChangeEvent<HTMLFormElement>) {
    const entries = [...new FormData(currentTarget)].filter(([, value]) => value !== '')
    const chosen = { changes, ...Object.fromEntries(entries) }
    show(resource, { ...readView(resource), changes: chosen }, { replace: true })
  }
  return (
    <form className="changes-filter" onChange={filter} onSubmit={(event) => event.preventDefault()}>
      <div className="filter-chips" role="radiogroup" aria-label="Kind of change">
        {Object.entries(kinds).map(([kind, text]) => (
          <label key={kind} className="chip">
            <input type="radio" name="changes" value={kind} checked={kind === changes} onChange={byForm} />
            {text}
          </label>
        ))}
      </div>
      <label className="text-field">
        By
        {/* Options that are loaded later would take the selection of an uncontrolled one. */}
        <select name="by" value={by} onChange={byForm}>
          <option value="">Anyone</option>
          {loaded ? <optgroup label={`Of the latest ${number(loaded)} changes`}>{names}</optgroup> : names}
        </select>
      </label>
      <label className="text-field">
        Until
        <input type="date" name="until" defaultValue={until} />
      </label>
    </form>
  )
}
