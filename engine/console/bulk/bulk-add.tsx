import './bulk.css'
import { useWindowEvent } from '@mantine/hooks'
import { type Ref, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { texts } from '#service/reader'
import { Button } from '../components/buttons.tsx'
import { keepFocus } from '../components/focus.ts'
import { Sheet } from '../components/sheet.tsx'
import { capitalized, correctedRows, countOf, countOfRows, is, joined, number, was } from '../formats.ts'
import { useAccess } from '../resource/access.ts'
import { importDrafts } from '../resource/drafts.ts'
import { theAddition, together } from '../resource/edit-key.ts'
import { editOf } from '../resource/edits.ts'
import type { Done } from '../resource/notice/edit-outcome.tsx'
import { useResource } from '../resource/page-context.ts'
import { everything } from '../resource/view.ts'
import type { Item, Noun } from '../resource.ts'
import { countOutcomes, isAdded, repeatedRows } from '../rows/progress.ts'
import { readTable } from '../rows/read-table.ts'
import { correct, isValid, type Row, type Table, type ValidRow } from '../rows/table.ts'
import { doubtfulText, existingText, resultsText, summaryText } from './add-texts.ts'
import { RowTable } from './row-table.tsx'
import { SourceInput, useDraft } from './source-input.tsx'
import { type Run, useAddRows } from './use-add-rows.ts'
import { Progress } from './use-job.tsx'

interface BulkAddProps {
  /** The file with the items, if the user has dropped one on the page. */
  dropped: File | undefined
  onClose: () => void
  /** Called with what was added, when the panel is closed. */
  onDone: (done: Done) => void
}

/** Adds the items of a text or file. The panel stays open while they are added. */
export function BulkAdd({ dropped, onClose, onDone }: BulkAddProps) {
  const { resource, open, turnTo } = useResource()
  const { canRemove } = useAccess()
  const [isCloseRefused, setIsCloseRefused] = useState(false)
  const [draft, setDraft] = useDraft(resource)
  const mainButton = useRef<HTMLButtonElement>(null)
  // Typing stays fast while a long text is checked.
  const text = useDeferredValue(draft.text)
  const pasted = useMemo(() => readTable(resource, text), [resource, text])
  const table = useMemo(() => pasted && withCorrections(pasted, draft.corrections), [pasted, draft.corrections])
  const rows = useMemo(() => table?.rows.filter(isValid) ?? [], [table])
  const repeated = useMemo(() => repeatedRows(resource, rows), [resource, rows])
  const run = useAddRows(resource, pasted?.rows ?? [], rows, draft.sent)
  const isAdding = run.state === 'adding'

  const added = rows.filter(({ number }) => isAdded(run.outcomes.get(number))).length
  const waiting = (table?.rows.length ?? 0) - added
  useEffect(() => {
    const kept = importDrafts.get(resource.many)
    if (kept) Object.assign(kept, { isOpen: true, progress: { added, waiting } })
  })

  const created = run.state === 'ready' ? [] : rows.flatMap(createdBy)

  function close() {
    setIsCloseRefused(isAdding)
    if (isAdding) return
    const kept = importDrafts.get(resource.many)
    if (kept) kept.isOpen = false
    if (waiting === 0 && text !== '') setDraft()
    onClose()
    if (created.length > 0) {
      onDone({
        text: `${resultsText(resource, created.length, 0, 0)}.`,
        at: Date.now(),
        edits: created.map((seen) => ({ ...editOf(seen), isAddition: true })),
        ...(canRemove && { onUndo: (asks) => undo(created, asks) }),
      })
    }
  }

  function createdBy({ number, item }: ValidRow): Item | [] {
    const outcome = run.outcomes.get(number)
    return outcome?.kind === 'added' ? { ...item, id: outcome.id } : []
  }

  function undo(created: Item[], asks = false) {
    // A complete import has no draft any more. The same rows can be entered again.
    const kept = importDrafts.get(resource.many)
    if (!kept) importDrafts.set(resource.many, { text: '', corrections: new Map(), sent: draft.sent })
    const edits = together(created.map((seen) => editOf(seen, undefined, undefined, theAddition)))
    open({ kind: 'editMany', edits, same: 0, isUndo: true, startsAtOnce: !asks })
  }

  function undoHere() {
    close()
    undo(created)
  }

  function view() {
    close()
    if (run.firstId !== undefined) turnTo({ ...everything, cursor: run.firstId - 1n })
  }

  function addAgain(add: () => void) {
    add()
    // The button disappears.
    mainButton.current?.focus()
  }

  function stop() {
    setIsCloseRefused(false)
    run.stop()
    mainButton.current?.focus()
  }

  function change(row: Row, name: string, changed: string) {
    if (!table) return
    const corrected = correct(resource, table, row, name, changed)
    setDraft({ ...draft, corrections: new Map(draft.corrections).set(row.number, corrected) })
  }

  useWindowEvent('beforeunload', (event) => {
    if (isAdding) event.preventDefault()
  })

  return (
    <Sheet title={`Add many ${resource.many}`} onClose={close} size="xl" holdsEntries>
      <div className="bulk">
        {run.state === 'ready' ? (
          <SourceInput
            resource={resource}
            draft={draft}
            dropped={dropped}
            onChange={setDraft}
            onSubmit={() => mainButton.current?.click()}
            problem={table?.problem}
          />
        ) : (
          <Progress
            label="Rows that are finished"
            done={rows.length - run.missing.length}
            total={rows.length}
            pause={run.pause}
          />
        )}
        {isAdding && isCloseRefused && (
          <p role="alert">{`${capitalized(resource.many)} are being added. Stop that before you close this panel.`}</p>
        )}
        <p role="status">
          {table && !table.problem && (
            <Summary noun={resource} table={table} run={run} valid={rows.length} repeated={repeated} />
          )}
        </p>
        {!isAdding && run.existing.length > 0 && (
          <Again text={existingText(resource, run.existing.length)} onAdd={() => addAgain(run.addAgain)}>
            {`Add ${number(run.existing.length)} again`}
          </Again>
        )}
        {!isAdding && run.doubtful.length > 0 && (
          <Again text={doubtfulText(resource, run.doubtful.length)} onAdd={() => addAgain(run.addDoubtful)}>
            {`Add ${number(run.doubtful.length)} anyway`}
          </Again>
        )}
        {table && table.rows.length > 0 && (
          <RowTable
            resource={resource}
            table={table}
            outcomes={run.outcomes}
            repeated={repeated}
            onChange={isAdding ? undefined : change}
            onLast={() => mainButton.current?.focus()}
          />
        )}
        <div className="bulk-actions">
          <MainButton
            ref={mainButton}
            noun={resource}
            run={run}
            isStale={text !== draft.text}
            file={draft.fileProblem && draft.file}
            onView={view}
          />
          {!isAdding && canRemove && created.length > 0 && (
            <Button key="undo" ref={keepFocus} variant="default" onClick={undoHere}>
              Undo
            </Button>
          )}
          <div className="bulk-choice">
            {/* Nothing replaces it, or the second click of a double click would do something else. */}
            {isAdding && (
              <Button key="stop" ref={keepFocus} variant="default" onClick={stop}>
                Stop
              </Button>
            )}
            <Button key="close" ref={keepFocus} variant="default" onClick={close}>
              Close
            </Button>
          </div>
        </div>
      </div>
    </Sheet>
  )
}

/** What the user may add although it may exist. */
function Again({ text, onAdd, children }: { text: string; onAdd: () => void; children: string }) {
  return (
    <div className="bulk-again">
      <p>{text}</p>
      <Button variant="default" size="xs" onClick={onAdd}>
        {children}
      </Button>
    </div>
  )
}

function withCorrections(table: Table, corrections: ReadonlyMap<number, Row>): Table {
  return { ...table, rows: table.rows.map((row) => corrections.get(row.number) ?? row) }
}

interface SummaryProps {
  noun: Noun
  table: Table
  run: Run
  /** The number of valid rows. */
  valid: number
  repeated: ReadonlyMap<number, number>
}

const formats = {
  comma: 'CSV with commas',
  semicolon: 'CSV with semicolons',
  tab: 'Rows of a spreadsheet',
  json: 'JSON',
  ndjson: 'JSON, one object per line',
}

/** What will be added, or what became of the rows. */
function Summary({ noun, table, run: { state, outcomes, missing }, valid, repeated }: SummaryProps) {
  const { unused = [] } = table
  const invalid = table.rows.length - valid
  const { added, existed, failed } = countOutcomes(outcomes)
  if (state === 'adding') return null
  if (state === 'ready') {
    const skipped = added + existed
    const twice = missing.filter(({ number }) => repeated.has(number)).length
    const second = joined(' ', [
      skipped > 0 && `${countOf(noun, skipped)} ${was(skipped)} already added, and will be skipped.`,
      `${formats[table.format]}.`,
    ])
    return (
      <>
        <Lines first={summaryText(noun, missing.length, invalid)} second={second} />
        {twice > 0 && (
          <span className="bulk-note">
            {' '}
            {`${countOfRows(twice)} ${is(twice)} the same as an earlier row, and will be added, too.`}
          </span>
        )}
        {unused.length > 0 && <span className="bulk-note"> {texts.unused(unused)}</span>}
      </>
    )
  }
  const unconfirmed = missing.filter(({ isCorrected }) => !isCorrected).length
  const stopped = `${countOfRows(unconfirmed)} ${was(unconfirmed)} not confirmed. Continuing`
  const repeatable = 'Adding the same rows again within 24 hours with the same API key'
  const advice = `${unconfirmed > 0 ? stopped : repeatable} adds no ${noun.one} twice.`
  const correction = invalid + failed > 0 ? ' Correct the other rows in the table, then add them.' : ''
  return <Lines first={resultsText(noun, added, existed, failed)} second={advice + correction} />
}

function Lines({ first, second }: { first: string; second: string }) {
  return (
    <>
      <strong>{`${first}.`}</strong> <span className="bulk-note">{second}</span>
    </>
  )
}

interface MainButtonProps {
  ref: Ref<HTMLButtonElement>
  noun: Noun
  run: Run
  /** Whether the rows are those of an earlier text. */
  isStale: boolean
  /** The file that the rows are from, if the user has chosen another one that was not read. */
  file: string | undefined
  onView: () => void
}

function MainButton({ ref, noun, run: { state, missing, start }, isStale, file, onView }: MainButtonProps) {
  const isOnlyCorrected = missing.every(({ isCorrected }) => isCorrected)
  const labels = {
    ready: `Add ${missing.length === 0 ? noun.many : countOf(noun, missing.length)}${file ? ` of ${file}` : ''}`,
    adding: 'Adding…',
    stopped: isOnlyCorrected ? `Add ${correctedRows(missing.length)}` : `Add the other ${number(missing.length)}`,
    finished: `View ${noun.many}`,
  }
  const isReady = state === 'ready' && missing.length > 0 && !isStale
  return (
    <Button
      ref={ref}
      isDisabled={state === 'adding' || (state === 'ready' && !isReady)}
      onClick={state === 'finished' ? onView : start}
    >
      {labels[state]}
    </Button>
  )
}
