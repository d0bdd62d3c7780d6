import './request-log.css'
import { useEffect, useId, useRef, useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { Sheet } from '../components/sheet.tsx'
import { messages } from '../texts/messages.ts'
import { CodeBlock } from './code-block.tsx'
import { failedEntry, hasFailed, type LogEntry, loggedFetch, newestEntry, rowsOf, useLogEntries } from './log.ts'
import { curlTextOf, headersOf, indentedTextOf, inputsOf } from './log-texts.ts'
import { indentedJsonOf } from './quoting.ts'

interface RequestLogProps {
  /** Opens the entry of this failure. */
  failure?: { requestId: string | undefined }
  /** Null before sign-in: then no request can be repeated. */
  apiKey: string | null
  onClose: () => void
}

/** The requests of this tab, the newest first. */
export function RequestLog({ failure, apiKey, onClose }: RequestLogProps) {
  const { log: texts } = messages
  const entries = useLogEntries()
  const [openId, setOpenId] = useState(() => failure && failedEntry(failure.requestId)?.id)

  function repeat(entry: LogEntry) {
    const { url, method, body } = entry
    const headers = { ...headersOf(entry), authorization: `Bearer ${apiKey}` }
    // The new entry shows the outcome.
    loggedFetch(url, { method, headers, ...(body !== undefined && { body }) }).catch(() => {})
    setOpenId(newestEntry()?.id)
  }

  return (
    <Sheet title={texts.title} onClose={onClose} size="lg">
      <div className="log">
        <p className="request-note">{entries.length === 0 ? texts.empty : texts.note}</p>
        <ol>
          {rowsOf(entries).map(({ key, newest, ids }) => {
            const isOpen = openId !== undefined && ids.includes(openId)
            return (
              <Entry
                key={key}
                entry={newest}
                count={ids.length}
                isOpen={isOpen}
                onToggle={() => setOpenId(isOpen ? undefined : newest.id)}
                onRepeat={apiKey === null ? undefined : () => repeat(newest)}
              />
            )
          })}
        </ol>
      </div>
    </Sheet>
  )
}

interface EntryProps {
  entry: LogEntry
  /** The number of equal requests. The entry is the newest of them. */
  count: number
  isOpen: boolean
  onToggle: () => void
  onRepeat: (() => void) | undefined
}

function Entry({ entry, count, isOpen, onToggle, onRepeat }: EntryProps) {
  const { log: texts } = messages
  const { method, procedures, attempt, startedAt } = entry
  const id = useId()
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isOpen) item.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <li ref={item} data-failed={hasFailed(entry) || undefined}>
      <button type="button" className="log-line" aria-expanded={isOpen} aria-controls={id} onClick={onToggle}>
        <time dateTime={startedAt.toISOString()}>{texts.time(startedAt)}</time>
        <span className="log-call">
          {method} {procedures.join(', ')}
        </span>
        <span className="log-attempt">{count > 1 ? texts.times(count) : attempt > 1 && texts.attempt(attempt)}</span>
        <span className="log-status">
          {entry.outcome.kind === 'response' ? entry.outcome.status : texts.outcomes[entry.outcome.kind]}
        </span>
        <span className="log-duration">
          {entry.outcome.kind !== 'pending' && texts.duration(Math.round(entry.outcome.duration))}
        </span>
      </button>
      <div id={id} hidden={!isOpen}>
        {isOpen && <Details entry={entry} onRepeat={onRepeat} />}
      </div>
    </li>
  )
}

function Details({ entry, onRepeat }: Pick<EntryProps, 'entry' | 'onRepeat'>) {
  const texts = messages.log
  const { outcome } = entry
  return (
    <div className="log-details">
      {outcome.kind === 'response' && outcome.requestId && (
        <p>
          {messages.problem.requestId} <code>{outcome.requestId}</code>
        </p>
      )}
      {onRepeat && (
        <Button variant="default" size="xs" onClick={onRepeat}>
          {texts.repeat}
        </Button>
      )}
      <CodeBlock {...messages.request.command} text={curlTextOf(entry)} />
      {inputsOf(entry).map(({ procedure, input }, index) =>
        input === undefined ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a batch can contain equal calls.
          <CodeBlock key={index} title={texts.input(procedure)} copy={texts.copyInput} text={indentedJsonOf(input)} />
        ),
      )}
      {outcome.kind === 'response' && outcome.errorBody !== undefined && (
        <CodeBlock {...texts.response} text={indentedTextOf(outcome.errorBody)} />
      )}
    </div>
  )
}
