import { Button } from '@mantine/core'
import { isTransient, type Problem } from '../problem.ts'
import { Message } from './message.tsx'

interface NotLoadedProps {
  title: string
  problem: Problem
  onRetry: () => void
}

/** Explains why a query failed. Transient failures are retried automatically, and a button retries at once. */
export function NotLoaded({ title, problem, onRetry }: NotLoadedProps) {
  if (!isTransient(problem)) return <Message role="alert" title={title} text={problem.message} />
  return (
    <Message role="alert" title={title} text={`${problem.message} Trying again…`}>
      <Button variant="default" onClick={onRetry}>
        Try again now
      </Button>
    </Message>
  )
}
