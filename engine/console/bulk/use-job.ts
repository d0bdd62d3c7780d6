import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Pause, RetryOptions } from './retry-while-away.ts'

/** A job that waits while the service is away. It can be stopped, and stops when the component disappears. */
export function useJob<Input = void>(run: (options: RetryOptions, input: Input) => Promise<void>) {
  const [pause, setPause] = useState<Pause>()
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  async function start(input: Input): Promise<void> {
    controller.current = new AbortController()
    const { signal } = controller.current
    try {
      await run({ signal, onPause: setPause }, input)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      setPause(undefined)
    }
  }

  const { mutate, reset, status, error } = useMutation({ mutationFn: start })
  return { start: mutate, stop: () => controller.current?.abort(), reset, status, error, pause }
}
