import { useNow } from '../components/use-now.ts'
import { messages } from '../messages/index.ts'
import type { Pause } from './retry-while-away.ts'

const { problem } = messages

/** Says why a job waits, and for how long. */
export function PauseMessage({ pause }: { pause: Pause }) {
  const seconds = Math.ceil((pause.until - useNow()) / 1_000)
  return (
    <p>
      <span role="alert">{pause.message}</span> {seconds > 0 ? problem.retryingIn(seconds) : problem.retrying}
    </p>
  )
}
