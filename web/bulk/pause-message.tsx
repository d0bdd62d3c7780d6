import { Countdown } from '../components/failure.tsx'
import type { Pause } from './retry-while-away.ts'

/** Says why a job waits, and for how long. */
export function PauseMessage({ pause }: { pause: Pause }) {
  return (
    <p className="bulk-pause">
      <span role="alert">{pause.message}</span> <Countdown until={pause.until} />
    </p>
  )
}
