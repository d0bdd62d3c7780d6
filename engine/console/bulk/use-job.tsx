import { useMutation } from '@tanstack/react-query'
import { useEffect, useReducer, useRef, useState } from 'react'
import { number } from '../formats.ts'
import { Countdown } from '../requests/failure.tsx'
import { ShowRequest } from '../requests/open-requests.tsx'
import type { Pause, RetryOptions } from '../rows/batches.ts'

/** Milliseconds between two updates of the progress. */
const updateInterval = 200

/**
 * A job that waits while the service is away. It can be stopped, and stops when the component disappears. While it runs, its
 * component is rendered again and again, and after that with `update`: responses also come after a stop.
 */
export function useJob<Input = void>(run: (options: RetryOptions, input: Input) => Promise<void>) {
  const [pause, setPause] = useState<Pause>()
  const [, update] = useReducer((updates: number) => updates + 1, 0)
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  async function start(input: Input): Promise<void> {
    controller.current = new AbortController()
    const { signal } = controller.current
    const timer = setInterval(update, updateInterval)
    try {
      await run({ signal, onPause: setPause }, input)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      clearInterval(timer)
      setPause(undefined)
    }
  }

  const { mutate, reset, status, error } = useMutation({ mutationFn: start })
  return { start: mutate, stop: () => controller.current?.abort(), reset, status, error, pause, update }
}

interface ProgressProps {
  label: string
  done: number
  total: number
  pause: Pause | undefined
}

/** How far a job is, and why it waits. */
export function Progress({ label, done, total, pause }: ProgressProps) {
  return (
    <div>
      <progress className="bulk-bar" value={done} max={total} aria-label={label} />
      <p className="bulk-numbers">{`${number(done)} of ${number(total)}`}</p>
      {pause && <PauseMessage pause={pause} />}
    </div>
  )
}

/** Says why a job waits, and for how long. */
export function PauseMessage({ pause: { message, until } }: { pause: Pause }) {
  return (
    <p className="pause">
      <span role="alert">{message}</span> <Countdown key={until} seconds={(until - Date.now()) / 1_000} />{' '}
      <ShowRequest requestId={undefined} />
    </p>
  )
}
