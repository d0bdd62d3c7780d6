import '@mantine/core/styles/EmptyState.layer.css'
import { Button, EmptyState } from '@mantine/core'
import { useState } from 'react'
import { messages } from '../messages/index.ts'
import { isTransient, type Problem } from '../problem.ts'
import { keepFocus } from './focus.ts'
import { IconAlertTriangle, IconCloudOff, IconHourglass } from './icons.tsx'
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
    <EmptyState ref={keepFocus} className="message" role="alert" icon={<Icon />}>
      <EmptyState.Title order={2}>{title}</EmptyState.Title>
      <EmptyState.Description>
        {message} {retries && <Retrying attempt={failures} seconds={retryAfter} />}
      </EmptyState.Description>
      <RequestId id={requestId} />
      {retries && (
        <EmptyState.Actions>
          <Button variant="default" onClick={onRetry}>
            {messages.problem.retryNow}
          </Button>
        </EmptyState.Actions>
      )}
    </EmptyState>
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
  return seconds === undefined ? messages.problem.retrying : <CountdownFrom key={attempt} seconds={seconds} />
}

function CountdownFrom({ seconds }: { seconds: number }) {
  const [until] = useState(() => Date.now() + seconds * 1_000)
  return <Countdown until={until} />
}

/** Says why a job waits, and for how long. */
export function PauseMessage({ pause: { message, until } }: { pause: { message: string; until: number } }) {
  return (
    <p className="pause">
      <span role="alert">{message}</span> <Countdown until={until} />
    </p>
  )
}

/** Counts down the seconds until the next attempt. */
function Countdown({ until }: { until: number }) {
  const rest = Math.max(Math.round((until - useNow()) / 1_000), 0)
  // Screen readers would announce every second.
  return <span aria-live="off">{rest > 0 ? messages.problem.retryingIn(rest) : messages.problem.retrying}</span>
}
