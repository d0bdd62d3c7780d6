import './requests.css'
import { memo, useEffect, useRef, useState } from 'react'
import { Sheet } from '../components/sheet.tsx'
import { number, time } from '../formats.ts'
import { keyVariable, servicePath } from '../service.ts'
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
    <Sheet title="Requests" onClose={onClose} size="lg">
      <div className="requests">
        <p>
          {entries.length === 0
            ? 'This tab has sent no request yet.'
            : 'Your actions, newest first, then what the page loaded by itself. A repeated request keeps its place.'}
        </p>
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

const outcomes = { pending: 'Pending', cancelled: 'Cancelled', unanswered: 'No response', known: 'Cached' }

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
          <time dateTime={startedAt.toISOString()}>{time(startedAt)}</time>{' '}
          <code>{rest ? `${rest.method} ${servicePath()}${rest.path}` : procedure}</code>{' '}
          <span className="request-status">{typeof status === 'number' ? status : outcomes[status]}</span>{' '}
          <span className="request-duration">{duration !== undefined && `${number(Math.round(duration))} ms`}</span>
        </summary>
        <Command
          label={
            rest
              ? `The same call of the REST API, with your API key in ${keyVariable()}:`
              : `Only the RPC API has ${procedure}. In TypeScript, with the typed client:`
          }
          command={commandOf(procedures, call)}
        />
        {requestId !== undefined && (
          <p>
            Request id <code>{requestId}</code>
          </p>
        )}
      </details>
    </li>
  )
})
