import { isCancelledError, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { PetStatus } from '../../client/index.ts'
import { usePetstore } from '../petstore.ts'
import { problemOf } from '../problem.ts'
import { type ExportFormat, exportPets } from './export-pets.ts'
import type { Pause } from './retry-while-away.ts'
import { saveFile } from './save-file.ts'

type State = { kind: 'idle' | 'loading' | 'saved' } | { kind: 'failed'; reason: string }

export interface Export {
  state: State
  /** The number of pets that are loaded. */
  pets: number
  pause: Pause | undefined
  start(format: ExportFormat): Promise<void>
  /** Stops the export, or forgets why it failed. */
  cancel(): void
}

const queryKey = ['export']

/** Loads the pets of this status, or all pets, and downloads them as a file. */
export function useExport(status: PetStatus | undefined): Export {
  const petstore = usePetstore()
  const queryClient = useQueryClient()
  const [state, setState] = useState<State>({ kind: 'idle' })
  const [pets, setPets] = useState(0)
  const [pause, setPause] = useState<Pause>()
  useEffect(() => () => void queryClient.cancelQueries({ queryKey }), [queryClient])

  async function start(format: ExportFormat): Promise<void> {
    setState({ kind: 'loading' })
    setPets(0)
    try {
      // As a query, because the console handles a rejected key in the same way for all queries.
      const file = await queryClient.fetchQuery({
        queryKey,
        queryFn: ({ signal }) =>
          exportPets(petstore, { format, status, signal, onProgress: setPets, onPause: setPause }),
        retry: false,
        gcTime: 0,
      })
      saveFile(`${status ? `pets-${status}` : 'pets'}.${format}`, file)
      setState({ kind: 'saved' })
    } catch (error) {
      setState(isCancelledError(error) ? { kind: 'idle' } : { kind: 'failed', reason: problemOf(error).message })
    } finally {
      setPause(undefined)
    }
  }

  function cancel() {
    setState({ kind: 'idle' })
    void queryClient.cancelQueries({ queryKey })
  }

  return { state, pets, pause, start, cancel }
}
