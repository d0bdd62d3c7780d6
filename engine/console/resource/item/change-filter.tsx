import { editTextsOf } from '../../texts/edits.ts'
import { useResource } from '../page-context.ts'
import { type ChangesShown, readView, show } from '../view.ts'

interface ChangeFilterProps {
  shown: ChangesShown
  /** The names of the API keys that have made the loaded changes. */
  keyNames: string[]
}

/** Which changes are listed: by what was done, by the API key, and up to a day. */
export function ChangeFilter({ shown, keyNames }: ChangeFilterProps) {
  const { resource } = useResource()
  const { kinds, ...texts } = editTextsOf(resource).changes.filter
  const { changes, by = '', until = '' } = shown
  const filter = (part: Partial<ChangesShown>) =>
    show(resource, { ...readView(resource), changes: { ...shown, ...part } }, { replace: true })
  return (
    <div className="changes-filter">
      <div className="filter-chips" role="radiogroup" aria-label={texts.label}>
        {Object.entries(kinds).map(([kind, text]) => (
          <label key={kind} className="chip">
            <input
              type="radio"
              name="changes"
              checked={kind === (changes in kinds ? changes : 'all')}
              onChange={() => filter({ changes: kind })}
            />
            {text}
          </label>
        ))}
      </div>
      <label className="text-field">
        {texts.by}
        <select value={by} onChange={({ currentTarget }) => filter({ by: currentTarget.value || undefined })}>
          <option value="">{texts.anyone}</option>
          {[...new Set([...keyNames, ...(by ? [by] : [])])].sort().map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="text-field">
        {texts.until}
        <input
          type="date"
          value={until}
          onChange={({ currentTarget }) => filter({ until: currentTarget.value || undefined })}
        />
      </label>
    </div>
  )
}
