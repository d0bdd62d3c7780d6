import { useState } from 'react'
import { isTransient, type Problem } from '../problem.ts'
import { ShowRequest } from '../requests/open-requests.tsx'
import { messages } from '../texts/messages.ts'
import { Button } from './buttons.tsx'
import { keepFocus } from './focus.ts'
import { IconAlertTriangle, IconCloudOff, IconHourglass } from './icons.tsx'
import { Message } from './message.tsx'
import { RequestId } from './request-id.tsx'
import { useNow } from './use-now.ts'

interface FailureProps {
  title: string
  problem: Problem
  /** The number of failures so far. */
  failures: number
  onRetry: () => void
}

/** Explains why a query failed. Transient failures are retried automatically, and a button retries at once. */
export function Failure({ title, problem, failures, onRetry }: FailureProps) {
  const { kind, message, retryAfter, requestId } = problem
  const retries = isTransient(problem)
  const Icon = kind === 'unreachable' ? IconCloudOff : retryAfter === undefined ? IconAlertTriangle : IconHourglass
  return (
    <Message
      ref={keepFocus}
      role="alert"
      icon={<Icon />}
      title={title}
      text={
        <>
          {message} {retries && <Retrying attempt={failures} seconds={retryAfter} />}
        </>
      }
    >
      <RequestId id={requestId} />
      {retries && (
        <div className="message-actions">
          <Button variant="default" onClick={onRetry}>
            {messages.problem.retryNow}
          </Button>
        </div>
      )}
    </Message>
  )
}

interface RetryingProps {
  /** The number of the next attempt. */
  attempt: number
  /** Undefined if the service has not said when to try again. */
  seconds: number | undefined
}

/** Counts down the seconds until the next attempt, if the service has told them. */
export function Retrying({ attempt, seconds }: RetryingProps) {
  const { problem } = messages
  return seconds === undefined ? problem.retrying.now : <CountdownFrom key={attempt} seconds={seconds} />
}

interface CountdownTexts {
  in: (seconds: number) => string
  now: string
}

export function CountdownFrom({ seconds, texts }: { seconds: number; texts?: CountdownTexts }) {
  const [until] = useState(() => Date.now() + seconds * 1_000)
  return <Countdown until={until} texts={texts} />
}

/** Says why a job waits, and for how long. */
export function PauseMessage({ pause: { message, until } }: { pause: { message: string; until: number } }) {
  return (
    <p className="pause">
      <span role="alert">{message}</span> <Countdown until={until} /> <ShowRequest requestId={undefined} />
    </p>
  )
}

/** Counts down the seconds until the next attempt. */
function Countdown({
  until,
  texts = messages.problem.retrying,
}: {
  until: number
  texts?: CountdownTexts | undefined
}) {
  const rest = Math.max(Math.round((until - useNow()) / 1_000), 0)
  // Screen readers would announce every second.
  return <span aria-live="off">{rest > 0 ? texts.in(rest) : texts.now}</span>
}
