import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useState } from 'react'
import { ClientProvider, clientWith } from './client.ts'
import { loadLater } from './components/load-later.tsx'
import { isTransient, problemOf, retryDelayAfter } from './problem.ts'
import { clearDrafts } from './resource/drafts.ts'
import { ResourcePage } from './resource/page/page.tsx'
import { useShownPage } from './resource/pages.ts'
import { servicePath } from './service.ts'
import { type SignOutScope, useSession } from './session.ts'
import { SignIn } from './sign-in/sign-in-form.tsx'

const LinkQuestion = loadLater(async () => (await import('./sign-in/link-question.tsx')).LinkQuestion)
const UnknownPath = loadLater(async () => (await import('./unknown-path.tsx')).UnknownPath)

/** Whether the path is that of the console. Some proxies serve it without the slash at the end, too. */
function isKnownPath(): boolean {
  return location.pathname.replace(/\/$/, '') === servicePath()
}

/** @param firstLinkedKey the key of the link that opened the page */
export function App({ firstLinkedKey }: { firstLinkedKey: string | undefined }) {
  const [{ apiKey, refusedKey, linkedKey }, { signIn, signOut, refuse, dismissLink }] = useSession(firstLinkedKey)
  // Nothing, instead of a sign-in form that would disappear again.
  if (apiKey === undefined && linkedKey === undefined) return null
  const onSignIn: typeof signIn = (...session) => {
    // After a rejected key, the user continues with another one.
    if (!refusedKey) clearDrafts()
    signIn(...session)
  }
  if (!apiKey) {
    if (!isKnownPath()) return <UnknownPath />
    return <SignIn key={linkedKey ?? ''} wasRefused={!!refusedKey} linkedKey={linkedKey} onSignIn={onSignIn} />
  }
  return (
    <>
      <SignedIn
        key={apiKey}
        apiKey={apiKey}
        onSignOut={(scope) => {
          clearDrafts()
          signOut(apiKey, scope)
        }}
        onRefused={() => refuse(apiKey)}
      />
      {linkedKey !== undefined && (
        <LinkQuestion key={linkedKey} linkedKey={linkedKey} onSignIn={onSignIn} onClose={dismissLink} />
      )}
    </>
  )
}

interface SignedInProps {
  apiKey: string
  onSignOut: (scope: SignOutScope) => void
  /** Called when the service rejects the key. */
  onRefused: () => void
}

/** The console after sign-in. It has its own query cache, so nothing that was loaded with one key is shown for another. */
function SignedIn({ apiKey, onSignOut, onRefused }: SignedInProps) {
  const { resource, icon } = useShownPage()
  const [client] = useState(() => clientWith(apiKey))
  const [queryClient] = useState(() => createQueryClient(onRefused))
  return (
    <ClientProvider value={client}>
      <QueryClientProvider client={queryClient}>
        {isKnownPath() ? (
          <ResourcePage key={resource.many} resource={resource} icon={icon} onSignOut={onSignOut} />
        ) : (
          <UnknownPath onSignOut={onSignOut} />
        )}
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
