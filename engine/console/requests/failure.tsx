import { useInterval } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { keepFocus } from '../components/focus.ts'
import { IconAlertTriangle, IconCloudOff } from '../components/icons.tsx'
import { Message } from '../components/message.tsx'
import { duration } from '../formats.ts'
import { isTransient, type Problem, problemOf } from '../problem.ts'
import { ShowRequest } from './open-requests.tsx'

interface FailureProps {
  title: string
  error: Error
  /** The number of failures so far. */
  failures: number
}

/** Explains why a query failed. Transient failures are retried automatically, and a button retries at once. */
export function Failure({ title, error, failures }: FailureProps) {
  const queryClient = useQueryClient()
  const problem = problemOf(error)
  const { kind, retryAfter, requestId } = problem
  const retries = isTransient(problem)
  // Without cancelling, a query would wait for its pending retry.
  const retry = () => void queryClient.cancelQueries().then(() => queryClient.invalidateQueries())
  const Icon = kind === 'unreachable' ? IconCloudOff : IconAlertTriangle
  return (
    <Message
      ref={keepFocus}
      role="alert"
      icon={<Icon />}
      title={title}
      text={<Reason {...problem}>{retries && <Countdown key={retryAfter && failures} seconds={retryAfter} />}</Reason>}
    >
      <RequestId id={requestId} />
      {retries && (
        <Button variant="default" onClick={retry}>
          Try again now
        </Button>
      )}
    </Message>
  )
}

/** Why something failed, and when it is tried again. The style sheet of the page lets only one of them tell of an outage. */
export function Reason({ kind, message, children }: Pick<Problem, 'kind' | 'message'> & { children: ReactNode }) {
  return (
    <span data-outage={kind === 'unreachable' || undefined}>
      <span>{message}</span> {children}
    </span>
  )
}

interface CountdownProps {
  /** Seconds from when it appears. Undefined if the service has not said when to try again. */
  seconds: number | undefined
  /** Whether the user tries again. */
  isManual?: boolean
}

/** Counts down the seconds until the next attempt. */
export function Countdown({ seconds = 0, isManual = false }: CountdownProps) {
  const [until] = useState(() => Date.now() + seconds * 1_000)
  const [now, setNow] = useState(() => Date.now())
  useInterval(() => setNow(Date.now()), 1_000, { autoInvoke: true })
  const rest = Math.max(Math.round((until - now) / 1_000), 0)
  const action = isManual ? 'Try again' : 'Trying again'
  const end = isManual ? '.' : '…'
  // Screen readers would announce every second.
  return <span aria-live="off">{rest > 0 ? `${action} in ${duration(rest)}.` : action + end}</span>
}

/** The id with which an operator finds a failed request in the log of the service, and a button that shows the request. */
export function RequestId({ id }: { id: string | undefined }) {
  return (
    <p className="request-id">
      {id !== undefined && (
        <>
          Request id <code>{id}</code>
          <CopyButton label="Copy the request id" value={id} />
        </>
      )}
      <ShowRequest requestId={id} />
    </p>
  )
}

/**
 * Why a query failed, until it succeeds: also while it is repeated after that. A message that appears again would be announced
 * again.
 */
export function useLastFailure(query: { status: string; failureReason: Error | null }): Error | null {
  const { status, failureReason } = query
  const [last, setLast] = useState(failureReason)
  const failure = failureReason ?? (status === 'success' ? null : last)
  if (failure !== last) setLast(failure)
  return failure
}
