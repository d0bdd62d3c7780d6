import { Button, Checkbox, Table } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { memo, useState } from 'react'
import { SteadyButton } from '../components/buttons.tsx'
import { Value } from '../components/value.tsx'
import { messages } from '../messages/index.ts'
import type { Field, Resource } from '../resource.ts'
import type { Outcome } from './add-rows.ts'
import { csvLine } from './csv.ts'
import type { Progress } from './progress.ts'
import { saveFile } from './save-file.ts'
import { isValid, type Row, type Table as TableOfRows } from './table.ts'

const { bulk } = messages

const pageSize = 50

interface RowTableProps {
  resource: Resource
  table: TableOfRows
  outcomes: Progress['outcomes']
}

/** The rows with their problems and results, 50 at a time. */
export function RowTable({ resource, table, outcomes }: RowTableProps) {
  const { columns } = table
  const [onlyProblems, setOnlyProblems] = useState(false)
  const [page, setPage] = useState(0)
  const problems = table.rows.filter((row) => problemOfRow(row, outcomes) !== undefined)
  const rows = onlyProblems && problems.length > 0 ? problems : table.rows
  // A new text or filter can have fewer pages.
  const start = Math.min(page, Math.ceil(rows.length / pageSize) - 1) * pageSize

  return (
    <section className="bulk-rows" aria-label={bulk.table}>
      {problems.length > 0 && (
        <div className="bulk-problems">
          <Checkbox
            size="xs"
            label={bulk.onlyProblems(problems.length)}
            checked={onlyProblems}
            onChange={(event) => setOnlyProblems(event.currentTarget.checked)}
          />
          <CopyRows columns={columns} rows={problems} />
        </div>
      )}
      <Table className="bulk-table">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{bulk.row}</Table.Th>
            {resource.entered.map(({ name, label, kind }) => (
              <Table.Th key={name} data-kind={kind}>
                {label}
              </Table.Th>
            ))}
            <Table.Th>{bulk.result}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(start, start + pageSize).map((row) => (
            <TableRow
              key={row.number}
              resource={resource}
              row={row}
              columns={columns}
              outcome={outcomes.get(row.number)}
            />
          ))}
        </Table.Tbody>
      </Table>
      {rows.length > pageSize && (
        <Pager start={start} count={rows.length} onTurn={(by) => setPage(start / pageSize + by)} />
      )}
    </section>
  )
}

function problemOfRow(row: Row, outcomes: Progress['outcomes']): string | undefined {
  if (!isValid(row)) return row.problem
  const outcome = outcomes.get(row.number)
  return outcome?.kind === 'failed' ? outcome.message : undefined
}

interface TableRowProps {
  resource: Resource
  row: Row
  columns: string[]
  outcome: Outcome | undefined
}

/** Memoized, because the outcomes change five times a second. */
const TableRow = memo(function TableRow({ resource, row, columns, outcome }: TableRowProps) {
  return (
    <Table.Tr>
      <Table.Td>{row.number}</Table.Td>
      {resource.entered.map((field) => (
        <Table.Td key={field.name} data-kind={field.kind}>
          <Cell field={field} row={row} text={row.cells[columns.indexOf(field.name)]} />
        </Table.Td>
      ))}
      <Table.Td>
        <Result row={row} outcome={outcome} />
      </Table.Td>
    </Table.Tr>
  )
})

/** What was entered, or the chosen value. */
function Cell({ field, row, text }: { field: Field; row: Row; text: string | undefined }) {
  if (field.choices && isValid(row)) return <Value field={field} value={row.item[field.name]} />
  if (field.kind !== 'text') return text
  return (
    <span className="bulk-text">
      <bdi>{text}</bdi>
    </span>
  )
}

function Result({ row, outcome }: Pick<TableRowProps, 'row' | 'outcome'>) {
  if (!isValid(row)) return <span className="bulk-problem">{row.problem}</span>
  if (!outcome) return null
  if (outcome.kind === 'failed') return <span className="bulk-problem">{outcome.message}</span>
  return <span className="bulk-added">{bulk[outcome.kind](String(outcome.id))}</span>
}

/** Copies rows as CSV, to be corrected and pasted again. */
function CopyRows({ columns, rows }: { columns: string[]; rows: Row[] }) {
  const clipboard = useClipboard()

  function copy() {
    const csv = csvLine(columns) + rows.map(({ cells }) => csvLine(cells)).join('')
    // A page that was served by plain HTTP has no clipboard.
    if ('clipboard' in navigator) clipboard.copy(csv)
    else saveFile('rows.csv', new Blob([csv], { type: 'text/csv' }))
  }

  return (
    <Button variant="default" size="compact-sm" onClick={copy}>
      {clipboard.copied ? messages.page.copied : bulk.copyProblems(rows.length)}
    </Button>
  )
}

interface PagerProps {
  /** The index of the first row of the page. */
  start: number
  count: number
  onTurn: (by: 1 | -1) => void
}

function Pager({ start, count, onTurn }: PagerProps) {
  const end = Math.min(start + pageSize, count)
  return (
    <nav className="bulk-pager" aria-label={bulk.pages}>
      <span>{bulk.page(start + 1, end, count)}</span>
      <SteadyButton variant="default" size="compact-sm" isDisabled={start === 0} onClick={() => onTurn(-1)}>
        {bulk.previous}
      </SteadyButton>
      <SteadyButton variant="default" size="compact-sm" isDisabled={end === count} onClick={() => onTurn(1)}>
        {bulk.next}
      </SteadyButton>
    </nav>
  )
}
