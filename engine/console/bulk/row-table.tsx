import { type ChangeEvent, type KeyboardEvent, memo, useState } from 'react'
import { Value } from '../components/value.tsx'
import { FieldInput } from '../form/field-input.tsx'
import { correctedRows, countOfRows, joined, number } from '../formats.ts'
import { issueTexts } from '../issues.ts'
import { ShowRequest } from '../requests/open-requests.tsx'
import type { Field, Resource } from '../resource.ts'
import type { Outcome } from '../rows/add-rows.ts'
import type { Outcomes } from '../rows/progress.ts'
import { isValid, type Row, type Table } from '../rows/table.ts'

/** Rows that are rendered at once, when the end of those before is visible. */
const step = 50

type RowChange = (row: Row, name: string, text: string) => void

interface RowTableProps {
  resource: Resource
  table: Table
  outcomes: Outcomes
  /** The numbers of the rows that are the same as an earlier one, and of that one. */
  repeated: ReadonlyMap<number, number>
  /** Called with a corrected text. Undefined while the rows cannot be corrected. */
  onChange: RowChange | undefined
  /** Called when the user leaves the last problem. */
  onLast: () => void
}

/** The rows with their problems and results. The rows to correct have fields. */
export function RowTable({ resource, table, outcomes, repeated, onChange, onLast }: RowTableProps) {
  const { columns } = table
  const [choice, setChoice] = useState<boolean>()
  const [shown, setShown] = useState(step)
  const problems = table.rows.filter((row) => isToCorrect(row, outcomes.get(row.number)))
  const corrected = problems.filter((row) => isValid(row) && !outcomes.has(row.number)).length
  const left = problems.length - corrected
  const toCorrect = `${countOfRows(left)} to correct`
  // In a long table they could be on any page.
  const onlyProblems = choice ?? table.rows.length > step
  const rows = onlyProblems && problems.length > 0 ? problems : table.rows

  return (
    <section className="bulk-rows" aria-label="Rows">
      {problems.length > 0 && (
        <label className="checkbox bulk-problems">
          <input type="checkbox" checked={onlyProblems} onChange={(event) => setChoice(event.currentTarget.checked)} />
          {`Show only ${joined(' and ', [left > 0 && toCorrect, corrected > 0 && correctedRows(corrected)])}`}
        </label>
      )}
      <table className="bulk-table" onKeyDown={(event) => moveToNextProblem(event, onLast)}>
        <thead>
          <tr>
            <th>Row</th>
            {resource.entered.map(({ name, label, kind }) => (
              <th key={name} data-kind={kind}>
                {label}
              </th>
            ))}
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <TableRow
              key={row.number}
              resource={resource}
              row={row}
              columns={columns}
              outcome={outcomes.get(row.number)}
              sameAs={repeated.get(row.number)}
              onChange={onChange}
            />
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <p key={shown} className="bulk-more" ref={whenVisible(() => setShown(shown + step))}>
          {`${countOfRows(rows.length - shown)} more`}
        </p>
      )}
    </section>
  )
}

function whenVisible(onVisible: () => void) {
  return (element: HTMLElement | null) => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onVisible())
    if (element) observer.observe(element)
    return () => observer.disconnect()
  }
}

function problemOfRow(resource: Resource, row: Row, outcome: Outcome | undefined): string | undefined {
  if (!isValid(row)) return row.problem
  if (outcome?.kind !== 'failed') return undefined
  const { issues, message } = outcome.problem
  return Object.values(issueTexts(resource, issues) ?? [message]).join(' ')
}

/** A row with a problem. Also a corrected one, until it is added. */
function isToCorrect(row: Row, outcome: Outcome | undefined): boolean {
  return !isValid(row) || outcome?.kind === 'failed' || (row.isCorrected === true && !outcome)
}

/** The Enter key moves the focus to the next value with a problem, or else calls `onLast`. */
function moveToNextProblem(event: KeyboardEvent<HTMLElement>, onLast: () => void): void {
  const { key, target, currentTarget, nativeEvent } = event
  if (key !== 'Enter' || nativeEvent.isComposing || !(target instanceof HTMLElement) || !('value' in target)) return
  event.preventDefault()
  const problems = [...currentTarget.querySelectorAll<HTMLElement>('[aria-invalid="true"]')]
  const isAfter = (each: Element) => target.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING
  const next = problems.find(isAfter) ?? problems.find((each) => each !== target)
  if (next) next.focus()
  else if (problems.length === 0) onLast()
}

interface TableRowProps {
  resource: Resource
  row: Row
  columns: string[]
  outcome: Outcome | undefined
  /** The number of an earlier row that is the same. */
  sameAs: number | undefined
  onChange: RowChange | undefined
}

/** Memoized, because the outcomes change five times a second. */
const TableRow = memo(function TableRow({ resource, row, columns, outcome, sameAs, onChange }: TableRowProps) {
  const isEditable = onChange !== undefined && row.values !== undefined && isToCorrect(row, outcome)
  return (
    <tr>
      <td>{row.number}</td>
      {resource.entered.map((field, index) => {
        const column = columns.indexOf(field.name)
        return (
          <td key={field.name} data-kind={field.kind} data-label={field.label}>
            <RowCell
              field={field}
              row={row}
              text={row.cells[column]}
              isFirst={index === 0}
              onChange={isEditable && column >= 0 ? onChange : undefined}
            />
          </td>
        )
      })}
      <td id={resultIdOf(row)}>
        <Result resource={resource} row={row} outcome={outcome} sameAs={sameAs} />
      </td>
    </tr>
  )
})

interface RowCellProps {
  field: Field
  row: Row
  text: string | undefined
  /** Whether it is the first value of the row. */
  isFirst: boolean
  /** Undefined if the value cannot be corrected. */
  onChange: RowChange | undefined
}

/** A value of a row: a field if it can be corrected, otherwise what was entered, or the chosen value. */
function RowCell({ field, row, text, isFirst, onChange }: RowCellProps) {
  if (onChange) return <CellField field={field} row={row} text={text ?? ''} isFirst={isFirst} onChange={onChange} />
  if (field.choices && isValid(row)) return <Value field={field} value={row.item[field.name]} />
  // Empty cells are not shown on a phone.
  if (field.kind !== 'text') return text && <span translate="no">{text}</span>
  return (
    <span className="bulk-text" translate="no">
      <bdi>{text}</bdi>
    </span>
  )
}

function resultIdOf({ number }: Row): string {
  return `result-${number}`
}

function CellField({ field, row, text, isFirst, onChange }: RowCellProps & { text: string; onChange: RowChange }) {
  // A problem that is not about one field is shown at the first.
  const error = !isValid(row) && (row.invalid.includes(field.name) || (row.invalid.length === 0 && isFirst))
  const attributes = {
    isSmall: true,
    'aria-label': `${field.label}, row ${number(row.number)}`,
    'aria-describedby': error ? resultIdOf(row) : undefined,
    error,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
      onChange(row, field.name, currentTarget.value),
  }
  const value = field.choices ? text.trim() || String(field.default ?? '') : text
  return <FieldInput field={field} {...attributes} value={value} isPlain />
}

function Result({ resource, row, outcome, sameAs }: Pick<TableRowProps, 'resource' | 'row' | 'outcome' | 'sameAs'>) {
  const problem = problemOfRow(resource, row, outcome)
  if (problem) {
    return (
      <>
        <span className="bulk-problem">{problem}</span>{' '}
        {outcome?.kind === 'failed' && <ShowRequest requestId={outcome.problem.requestId} />}
      </>
    )
  }
  if (!outcome && sameAs !== undefined) return <span className="bulk-note">{`Same as row ${number(sameAs)}`}</span>
  if (!outcome) return row.isCorrected && <span className="bulk-added">Corrected</span>
  if (outcome.kind === 'failed') return null
  const texts = { unconfirmed: 'Sent, not confirmed yet', doubtful: 'May have been added' }
  const text =
    'id' in outcome
      ? `${outcome.kind === 'added' ? 'Added' : 'Already added'} with id ${outcome.id}`
      : texts[outcome.kind]
  return <span className="bulk-added">{text}</span>
}
