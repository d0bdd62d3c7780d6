import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { namesOf } from '#service/fields'
import { csvLine, mayBeUtf16, texts } from '#service/reader'
import { Button } from '../components/buttons.tsx'
import { Labelled } from '../form/text-field.tsx'
import { joined, listOf } from '../formats.ts'
import { type Draft, importDrafts } from '../resource/drafts.ts'
import type { Field, Resource } from '../resource.ts'

/** The draft of a resource, which is kept while its panel is closed. Setting nothing forgets it. */
export function useDraft({ many }: Resource): [Draft, (draft?: Draft) => void] {
  const [draft, setDraft] = useState(() => importDrafts.get(many) ?? emptyDraft())
  return [
    draft,
    (changed = emptyDraft()) => {
      setDraft(changed)
      if (changed.text === '' && changed.sent.size === 0) importDrafts.delete(many)
      else importDrafts.set(many, changed)
    },
  ]
}

function emptyDraft(): Draft {
  return { text: '', corrections: new Map(), sent: new Map() }
}

const maxMegabytes = 5

interface SourceInputProps {
  resource: Resource
  draft: Draft
  /** A file to read at once, if the user has dropped it on the page. */
  dropped: File | undefined
  onChange: (draft?: Draft) => void
  /** Called when Enter is pressed with Control or Command. */
  onSubmit: () => void
  /** Why the text cannot be used. */
  problem: string | undefined
}

/** A text area that also takes the text of a file. */
export function SourceInput({ resource, draft, dropped, onChange, onSubmit, problem }: SourceInputProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const choice = useRef<HTMLInputElement>(null)

  function change(changed: string, name?: string) {
    onChange({ text: changed, corrections: new Map(), sent: draft.sent, ...(name !== undefined && { file: name }) })
  }

  function startOver() {
    onChange()
    area.current?.focus()
  }

  async function load(file: File | undefined) {
    if (!file) return
    // Otherwise choosing the same file again would change nothing.
    if (choice.current) choice.current.value = ''
    const read = await readFile(file)
    if ('text' in read) change(read.text, file.name)
    else {
      const kept =
        draft.text !== '' && `${draft.file === undefined ? 'Your rows' : `The rows of ${draft.file}`} are kept.`
      onChange({ ...draft, fileProblem: joined(' ', [read.problem, kept]) })
    }
    area.current?.focus()
  }

  const loadDropped = useEffectEvent(() => void load(dropped))
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file may be dropped.
  useEffect(() => loadDropped(), [dropped])

  return (
    <div>
      <Labelled
        label="Paste rows of a spreadsheet, CSV or JSON"
        description={hintOf(resource)}
        error={draft.fileProblem ?? problem}
      >
        {(ids) => (
          <textarea
            ref={area}
            {...ids}
            className="bulk-source"
            placeholder={exampleOf(resource)}
            value={draft.text}
            onChange={(event) => change(event.currentTarget.value)}
            onKeyDown={({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey) && onSubmit()}
            rows={8}
            wrap="off"
            spellCheck={false}
            autoComplete="off"
            data-autofocus
          />
        )}
      </Labelled>
      <div className="bulk-file">
        <input
          ref={choice}
          type="file"
          accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,text/*,application/json"
          onChange={(event) => void load(event.currentTarget.files?.[0])}
          hidden
        />
        <Button variant="default" size="compact-sm" onClick={() => choice.current?.click()}>
          Choose a file
        </Button>
        <span data-drop={draft.file === undefined || undefined}>
          {draft.file === undefined ? 'or drop one here' : `From ${draft.file}`}
        </span>
        {draft.sent.size > 0 && (
          <Button variant="default" size="compact-sm" onClick={startOver}>
            Start over
          </Button>
        )}
      </div>
    </div>
  )
}

function hintOf(resource: Resource): string {
  const { one, entered } = resource
  const labelsOf = (fields: readonly Field[]) => fields.map(({ label }) => label.toLowerCase())
  const optional = entered.filter(({ presence }) => presence === 'optional')
  return joined(' ', [
    `One ${one} per row: ${listOf(labelsOf(entered))}.`,
    optional.length > 0 && `The ${listOf(labelsOf(optional))} may be empty.`,
    `A header row such as ${namesOf(entered)} allows any order.`,
  ])
}

/** Two rows and their header. */
function exampleOf({ entered }: Resource): string {
  const rows = [0, 1].map((index) => entered.map(({ samples }) => samples?.[index]))
  return [namesOf(entered), ...rows].map(csvLine).join('').trimEnd()
}

/** The text of a file. Another encoding than UTF-8 would change names without notice. */
async function readFile(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > maxMegabytes * 1_000_000) return { problem: `The file is larger than ${maxMegabytes} MB.` }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer())
    if (mayBeUtf16(bytes)) return { problem: `${file.name} ${texts.notUtf8}` }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.trim() === '' ? { problem: `${file.name} has no rows.` } : { text }
  } catch (error) {
    const isNotUtf8 = error instanceof TypeError
    return { problem: isNotUtf8 ? `${file.name} ${texts.notUtf8}` : 'The file cannot be read.' }
  }
}
