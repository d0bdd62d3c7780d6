import { Button } from '@mantine/core'
import { Message } from './message.tsx'
import { mayPass, type Problem } from './problem.ts'

interface NotLoadedProps {
  title: string
  problem: Problem
  onRetry: () => void
}

/** Says why there is nothing to show and, where it is asked for again by itself, lets people have that at once. */
export function NotLoaded({ title, problem, onRetry }: NotLoadedProps) {
  if (!mayPass(problem)) return <Message role="alert" title={title} text={problem.message} />
  return (
    <Message role="alert" title={title} text={`${problem.message} Trying again…`}>
      <Button variant="default" onClick={onRetry}>
        Try again now
      </Button>
    </Message>
  )
}
