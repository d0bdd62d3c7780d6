import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePetstore } from '../petstore.ts'
import type { Resource } from '../resource.ts'
import { addRows, keyPrefixOf, type Outcome } from './add-rows.ts'
import { advance, noProgress } from './progress.ts'
import type { ValidRow } from './table.ts'
import { useJob } from './use-job.ts'

/** Milliseconds between two updates of the progress. */
const updateInterval = 200

/** Adds the rows when it is started. A start after a stop continues. */
export function useAddRows(resource: Resource, rows: ValidRow[]) {
  const procedures = resource.procedures(usePetstore())
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState(noProgress)

  const { start, stop, status, pause } = useJob(async (options) => {
    const finished: [number, Outcome][] = []
    const update = () => {
      const batch = finished.splice(0)
      setProgress((before) => advance(before, batch, Date.now()))
    }
    update()
    const timer = setInterval(update, updateInterval)
    const missing = rows.filter(({ number }) => !progress.outcomes.has(number))
    try {
      const keyPrefix = await keyPrefixOf(resource, rows)
      const onOutcome = (row: number, outcome: Outcome) => finished.push([row, outcome])
      await addRows(procedures, missing, { ...options, keyPrefix, onOutcome })
    } finally {
      clearInterval(timer)
      update()
      void queryClient.invalidateQueries({ queryKey: [resource.many] })
    }
  })

  const end = progress.outcomes.size === rows.length ? 'finished' : 'stopped'
  const states = { idle: 'ready', pending: 'adding', success: end, error: end } as const
  return { state: states[status], progress, pause, start: () => start(), stop }
}

export type Run = ReturnType<typeof useAddRows>
