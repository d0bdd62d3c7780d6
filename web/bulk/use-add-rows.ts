import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { usePetstore } from '../petstore.ts'
import type { Resource } from '../resource.ts'
import { addRows, keyPrefixOf, type Outcome } from './add-rows.ts'
import { advance, noProgress } from './progress.ts'
import type { Pause } from './retry-while-away.ts'
import type { ValidRow } from './table.ts'

/** Milliseconds between two updates of the progress. */
const updateInterval = 200

/** Adds the rows when it is started. */
export function useAddRows(resource: Resource, rows: ValidRow[]) {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState(noProgress)
  const [pause, setPause] = useState<Pause>()
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  async function add(): Promise<void> {
    controller.current = new AbortController()
    const { signal } = controller.current
    const finished: [number, Outcome][] = []
    const update = () => {
      const batch = finished.splice(0)
      setProgress((before) => advance(before, batch, Date.now()))
    }
    update()
    const timer = setInterval(update, updateInterval)
    const missing = rows.filter(({ number }) => !progress.outcomes.has(number))
    try {
      await addRows(resource.procedures(petstore), missing, {
        keyPrefix: await keyPrefixOf(resource, rows),
        signal,
        onPause: setPause,
        onOutcome: (row, outcome) => finished.push([row, outcome]),
      })
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      clearInterval(timer)
      update()
      setPause(undefined)
      void queryClient.invalidateQueries({ queryKey: [resource.many] })
    }
  }

  const { mutate, status } = useMutation({ mutationFn: add })
  const end = progress.outcomes.size === rows.length ? 'finished' : 'stopped'
  const states = { idle: 'ready', pending: 'adding', success: end, error: end } as const
  return {
    state: states[status],
    progress,
    pause,
    /** Starts, or continues after a stop. */
    start: () => mutate(),
    stop: () => controller.current?.abort(),
  }
}

export type Run = ReturnType<typeof useAddRows>
