import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Progress.layer.css'
import './bulk.css'
import { Button, Progress } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useDeferredValue, useMemo, useState } from 'react'
import { SteadyButton } from '../components/buttons.tsx'
import { PauseMessage } from '../components/failure.tsx'
import { keepFocus } from '../components/focus.ts'
import { Sheet } from '../components/sheet.tsx'
import { messages } from '../messages/index.ts'
import type { Noun, Resource } from '../resource.ts'
import { countOutcomes, rateOf } from './progress.ts'
import { readTable } from './read-table.ts'
import { RowTable } from './row-table.tsx'
import { SourceInput } from './source-input.tsx'
import { isValid, type Table } from './table.ts'
import { type Run, useAddRows } from './use-add-rows.ts'

const { bulk } = messages

interface BulkAddProps {
  resource: Resource
  onClose: () => void
}

/** Adds the items of a text or file. The panel stays open while they are added. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function BulkAdd({ resource, onClose }: BulkAddProps) {
  const { noun } = resource
  const [isCloseRefused, setIsCloseRefused] = useState(false)
  const [source, setSource] = useState('')
  // Typing stays fast while a long text is checked.
  const text = useDeferredValue(source)
  const table = useMemo(() => readTable(resource, text), [resource, text])
  const rows = useMemo(() => table?.rows.filter(isValid) ?? [], [table])
  const run = useAddRows(resource, rows)
  const isAdding = run.state === 'adding'

  function close() {
    setIsCloseRefused(isAdding)
    if (!isAdding) onClose()
  }

  function stop() {
    setIsCloseRefused(false)
    run.stop()
  }

  useWindowEvent('beforeunload', (event) => {
    if (isAdding) event.preventDefault()
  })

  return (
    <Sheet title={bulk.title(noun)} onClose={close} size="xl" holdsEntries>
      <div className="bulk">
        {run.state === 'ready' ? (
          <SourceInput resource={resource} text={source} onChange={setSource} problem={table?.problem} />
        ) : (
          <RunProgress run={run} total={rows.length} />
        )}
        {isAdding && isCloseRefused && <p role="alert">{bulk.stopBeforeClosing(noun)}</p>}
        <p role="status">
          {table && !table.problem && <Summary noun={noun} table={table} run={run} valid={rows.length} />}
        </p>
        {table && table.rows.length > 0 && (
          <RowTable resource={resource} table={table} outcomes={run.progress.outcomes} />
        )}
        <div className="bulk-actions">
          <MainButton noun={noun} run={run} count={rows.length} isStale={text !== source} onClose={close} />
          {run.state !== 'finished' && (
            <Button ref={keepFocus} variant="default" onClick={isAdding ? stop : close}>
              {isAdding ? bulk.stop : messages.page.close}
            </Button>
          )}
        </div>
      </div>
    </Sheet>
  )
}

interface SummaryProps {
  noun: Noun
  table: Table
  run: Run
  /** The number of valid rows. */
  valid: number
}

/** What will be added, or what became of the rows. */
function Summary({ noun, table, run: { state, progress }, valid }: SummaryProps) {
  const invalid = table.rows.length - valid
  if (state === 'adding') return null
  if (state === 'ready') return <Lines first={bulk.summary(noun, valid, invalid)} second={describe(table)} />
  const { added, existed, failed } = countOutcomes(progress)
  const advice = state === 'stopped' ? bulk.stopped(noun, valid - progress.outcomes.size) : bulk.repeatable(noun)
  const correction = invalid + failed > 0 ? ` ${bulk.correctAlone}` : ''
  return <Lines first={bulk.results(noun, added, existed, failed)} second={advice + correction} />
}

function Lines({ first, second }: { first: string; second: string }) {
  return (
    <>
      <strong>{first}.</strong> <span className="bulk-note">{second}</span>
    </>
  )
}

function describe({ format, hasHeader }: Table): string {
  const header = hasHeader ? bulk.withHeader : bulk.withoutHeader
  return format === 'json' || format === 'ndjson' ? `${bulk.formats[format]}.` : `${bulk.formats[format]}, ${header}.`
}

function RunProgress({ run: { state, progress, pause }, total }: { run: Run; total: number }) {
  const done = progress.outcomes.size
  const rate = state === 'adding' && !pause ? rateOf(progress) : undefined
  return (
    <div>
      <Progress value={Math.floor((done / total) * 100)} size="sm" aria-label={bulk.progress} className="bulk-bar" />
      <p className="bulk-numbers">
        <span>{bulk.progressOf(done, total)}</span>
        {rate !== undefined && <span>{bulk.rate(Math.round(rate))}</span>}
        {rate !== undefined && <span>{bulk.remaining(Math.ceil((total - done) / rate))}</span>}
      </p>
      {pause && <PauseMessage pause={pause} />}
    </div>
  )
}

interface MainButtonProps {
  noun: Noun
  run: Run
  count: number
  /** Whether the rows are those of an earlier text. */
  isStale: boolean
  onClose: () => void
}

function MainButton({ noun, run: { state, progress, start }, count, isStale, onClose }: MainButtonProps) {
  const labels = {
    ready: bulk.add(noun, count),
    adding: bulk.adding,
    stopped: bulk.resume(count - progress.outcomes.size),
    finished: bulk.finished(noun),
  }
  const isReady = state === 'ready' && count > 0 && !isStale
  return (
    <SteadyButton
      isDisabled={state === 'adding' || (state === 'ready' && !isReady)}
      onClick={state === 'finished' ? onClose : start}
    >
      {labels[state]}
    </SteadyButton>
  )
}
