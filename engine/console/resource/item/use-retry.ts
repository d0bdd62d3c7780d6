import { useEffect, useEffectEvent } from 'react'
import { isTransient, problemOf, retryDelayAfter } from '../../problem.ts'
import type { NewItem } from './new-item.ts'

/** Saves again after a transient failure, while the component that says so is shown. */
export function useRetry({ error, failures }: NewItem, retry: () => void, isStopped = false): void {
  const saveAgain = useEffectEvent(retry)
  useEffect(() => {
    const problem = error && problemOf(error)
    if (isStopped || !problem || !isTransient(problem)) return
    const timer = setTimeout(saveAgain, retryDelayAfter(failures.current, problem))
    return () => clearTimeout(timer)
  }, [error, isStopped, failures])
}
