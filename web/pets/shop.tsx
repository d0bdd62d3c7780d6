import { Button } from '@mantine/core'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Pet } from '../../client/index.ts'
import { Header } from '../components/header.tsx'
import { Toast } from '../components/toast.tsx'
import { PetstoreProvider, petstoreWith } from '../petstore.ts'
import { isTransient, problemOf, retryDelayAfter } from '../problem.ts'
import { AddPet } from './add-pet.tsx'
import { FindPet } from './find-pet.tsx'
import { PetDetails } from './pet-details.tsx'
import { PetList } from './pet-list.tsx'
import { StatusFilter } from './status-filter.tsx'
import { show, useView } from './view.ts'

interface ShopProps {
  apiKey: string
  onSignOut: () => void
  /** Called when the service rejects the key. */
  onRefused: () => void
}

/** The console after sign-in. It has its own query cache, so nothing that was loaded with one key is shown for another. */
export function Shop({ apiKey, onSignOut, onRefused }: ShopProps) {
  const [petstore] = useState(() => petstoreWith(apiKey))
  const [queryClient] = useState(() => createQueryClient(onRefused))
  return (
    <PetstoreProvider value={petstore}>
      <QueryClientProvider client={queryClient}>
        <Header onSignOut={onSignOut} />
        <Pets />
      </QueryClientProvider>
    </PetstoreProvider>
  )
}

function Pets() {
  const view = useView()
  const [isAdding, setIsAdding] = useState(false)
  const [added, setAdded] = useState<Pet>()
  const forgetAdded = useCallback(() => setAdded(undefined), [])
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])

  const open = (pet: bigint) => show({ ...view, pet, isOverList: true })

  function closePet() {
    if (view.isOverList) history.back()
    else show({ ...view, pet: undefined }, { replace: true })
  }

  return (
    <main className="pets">
      <h2 ref={heading} tabIndex={-1}>
        Pets
      </h2>
      <div className="tools">
        <StatusFilter
          status={view.status}
          onChange={(status) => show({ ...view, status, cursor: 0n, earlierCursors: [] })}
        />
        <FindPet onFind={open} />
        <Button onClick={() => setIsAdding(true)}>Add a pet</Button>
      </div>
      <PetList view={view} onOpen={open} onAdd={() => setIsAdding(true)} />
      <PetDetails petId={view.pet} onClose={closePet} />
      <AddPet isOpen={isAdding} status={view.status} onAdded={setAdded} onClose={() => setIsAdding(false)} />
      <Toast pet={added} onOpen={open} onClose={forgetAdded} />
    </main>
  )
}

function createQueryClient(onRefused: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (problemOf(error).kind === 'refused') onRefused()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: (_failures, error) => isTransient(problemOf(error)),
        retryDelay: (failures, error) => retryDelayAfter(failures, problemOf(error)),
        // Without a network connection, a service on this machine is still reachable.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
}
