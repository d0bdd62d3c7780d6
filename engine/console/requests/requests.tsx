import './requests.css'
import { memo, useEffect, useRef } from 'react'
import { Sheet } from '../components/sheet.tsx'
import { servicePath } from '../service.ts'
import { messages } from '../texts/messages.ts'
import { requests as texts } from '../texts/requests.ts'
import { Command } from './command.tsx'
import { commandOf, restRequestOf } from './curl.ts'
import { hasFailed, type LogEntry, useLogEntries } from './log.ts'
import { procedures } from './procedures.ts'

interface RequestsProps {
  /** The id of the entry that is open at first. */
  first: number | undefined
  onClose: () => void
}

/** What this tab sent, each as a request of the REST API, or else as a call of the typed client. */
export function Requests({ first, onClose }: RequestsProps) {
  const entries = useLogEntries()
  return (
    <Sheet title={messages.requests.title} onClose={onClose} size="lg">
      <div className="requests">
        <p>{entries.length === 0 ? texts.empty : texts.note}</p>
        <ol>
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} isFirst={entry.id === first} />
          ))}
        </ol>
      </div>
    </Sheet>
  )
}

interface EntryProps {
  entry: LogEntry
  isFirst: boolean
}

/** Memoized: an import adds many entries in a second. */
const Entry = memo(function Entry({ entry, isFirst }: EntryProps) {
  const { procedure, startedAt, outcome } = entry
  const { status, duration, requestId } = outcome
  const call = { ...entry, input: entry.shown ?? entry.input }
  const rest = restRequestOf(procedures, call)
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (isFirst) details.current?.scrollIntoView({ block: 'nearest' })
  }, [isFirst])
  return (
    <li data-failed={hasFailed(entry) || undefined}>
      <details ref={details} open={isFirst}>
        <summary>
          <time dateTime={startedAt.toISOString()}>{texts.time(startedAt)}</time>{' '}
          <code>{rest ? `${rest.method} ${servicePath()}${rest.path}` : procedure}</code>{' '}
          <span className="request-status">{typeof status === 'number' ? status : texts.outcomes[status]}</span>{' '}
          <span className="request-duration">{duration !== undefined && texts.duration(Math.round(duration))}</span>
        </summary>
        <Command label={rest ? texts.curl() : texts.onlyRpc(procedure)} command={commandOf(procedures, call)} />
        {requestId !== undefined && (
          <p>
            {messages.problem.requestId} <code>{requestId}</code>
          </p>
        )}
      </details>
    </li>
  )
})
