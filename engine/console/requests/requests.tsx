import './requests.css'
import { memo, useEffect, useRef, useState } from 'react'
import { Sheet } from '../components/sheet.tsx'
import { servicePath } from '../service.ts'
import { messages } from '../texts/messages.ts'
import { requests as texts } from '../texts/requests.ts'
import { Command } from './command.tsx'
import { commandOf, restRequestOf } from './curl.ts'
import { hasFailed, type LogEntry, useLogEntries } from './log.ts'
import { procedures } from './procedures.ts'

interface RequestsProps {
  /** Whose request is open at first. */
  failure: { requestId: string | undefined } | undefined
  onClose: () => void
}

/** What this tab sent, each as a request of the REST API, or else as a call of the typed client. */
export function Requests({ failure, onClose }: RequestsProps) {
  const entries = useLogEntries()
  const [first] = useState(() => entryOfInterest(entries, failure)?.id)
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

/** The first entry, or that of a failure, which is the last one that failed if its request has no id. */
function entryOfInterest(entries: readonly LogEntry[], failure: RequestsProps['failure']): LogEntry | undefined {
  if (!failure) return entries[0]
  const failed = entries.filter(hasFailed)
  return failed.find(({ outcome }) => outcome.requestId === failure.requestId) ?? failed[0]
}

/** Memoized: an import adds many entries in a second. */
const Entry = memo(function Entry({ entry, isFirst }: { entry: LogEntry; isFirst: boolean }) {
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
