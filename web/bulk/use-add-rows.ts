import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { usePetstore } from '../petstore.ts'
import { addRows, keyPrefixOf, type Outcome } from './add-rows.ts'
import { advance, noProgress, type Progress } from './progress.ts'
import type { ValidRow } from './read-table.ts'
import type { Pause } from './retry-while-away.ts'

export interface Run {
  state: 'ready' | 'adding' | 'stopped' | 'finished'
  progress: Progress
  pause: Pause | undefined
  /** Starts, or continues after a stop. */
  start(): void
  stop(): void
}

/** The key of the mutation that runs while rows are added. */
export const addRowsKey = ['bulk-add']

/** Milliseconds between two updates of the progress. */
const updateInterval = 200

/** Adds the rows as pets when it is started. */
export function useAddRows(rows: ValidRow[]): Run {
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
      await addRows(petstore, missing, {
        keyPrefix: await keyPrefixOf(rows),
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
      void queryClient.invalidateQueries({ queryKey: ['pets'] })
    }
  }

  const { mutate, status } = useMutation({ mutationKey: addRowsKey, mutationFn: add })
  const isFinished = progress.outcomes.size === rows.length
  return {
    state: status === 'pending' ? 'adding' : status === 'idle' ? 'ready' : isFinished ? 'finished' : 'stopped',
    progress,
    pause,
    start: () => mutate(),
    stop: () => controller.current?.abort(),
  }
}
