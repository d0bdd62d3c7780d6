import type { ChangeEvent } from 'react'
import { editTextsOf } from '../../texts/edits.ts'
import { useResource } from '../page-context.ts'
import { type ChangesShown, readView, show } from '../view.ts'

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
  const { kinds, filter: texts } = editTextsOf(resource).changes
  const names = [...new Set(by ? [...keyNames, by] : keyNames)].sort().map((name) => <option key={name}>{name}</option>)
  function filter({ currentTarget }: ChangeEvent<HTMLFormElement>) {
    const entries = [...new FormData(currentTarget)].filter(([, value]) => value !== '')
    const chosen = { changes, ...Object.fromEntries(entries) }
    show(resource, { ...readView(resource), changes: chosen }, { replace: true })
  }
  return (
    <form className="changes-filter" onChange={filter} onSubmit={(event) => event.preventDefault()}>
      <div className="filter-chips" role="radiogroup" aria-label={texts.kind}>
        {Object.entries(kinds).map(([kind, text]) => (
          <label key={kind} className="chip">
            <input
              type="radio"
              name="changes"
              value={kind}
              defaultChecked={kind === (changes in kinds ? changes : 'all')}
            />
            {text}
          </label>
        ))}
      </div>
      <label className="text-field">
        {texts.by}
        <select name="by" defaultValue={by}>
          <option value="">{texts.anyone}</option>
          {loaded ? <optgroup label={texts.ofLatest(loaded)}>{names}</optgroup> : names}
        </select>
      </label>
      <label className="text-field">
        {texts.until}
        <input type="date" name="until" defaultValue={until} />
      </label>
    </form>
  )
}
