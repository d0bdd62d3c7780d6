import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useState } from 'react'
import { ClientProvider, clientWith } from './client.ts'
import { isTransient, problemOf, retryDelayAfter } from './problem.ts'
import { ResourcePage } from './resource/page/page.tsx'
import { useShownPage } from './resource/pages.ts'
import type { SignOutScope } from './session.ts'

interface SignedInProps {
  apiKey: string
  onSignOut: (scope: SignOutScope) => void
  /** Called when the service rejects the key. */
  onRefused: () => void
}

/** The console after sign-in. It has its own query cache, so nothing that was loaded with one key is shown for another. */
export function SignedIn({ apiKey, onSignOut, onRefused }: SignedInProps) {
  const { resource, icon } = useShownPage()
  const [client] = useState(() => clientWith(apiKey))
  const [queryClient] = useState(() => createQueryClient(onRefused))
  return (
    <ClientProvider value={client}>
      <QueryClientProvider client={queryClient}>
        <ResourcePage key={resource.many} resource={resource} icon={icon} onSignOut={onSignOut} />
      </QueryClientProvider>
    </ClientProvider>
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
        queryKeyHashFn: (key) =>
          JSON.stringify(key, (_name, value) => (typeof value === 'bigint' ? `${value}n` : value)),
        retry: (_failures, error) => isTransient(problemOf(error)),
        retryDelay: (failures, error) => retryDelayAfter(failures, problemOf(error)),
        // Without a network connection, a service on this machine is still reachable.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
}
