import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useState } from 'react'
import { Pets } from './pets/pets.tsx'
import { PetstoreProvider, petstoreWith } from './petstore.ts'
import { isTransient, problemOf, retryDelayAfter } from './problem.ts'

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
        <Pets apiKey={apiKey} onSignOut={onSignOut} />
      </QueryClientProvider>
    </PetstoreProvider>
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
