import { lazy, Suspense } from 'react'
import { loadLater } from './components/load-later.tsx'
import { RequestsProvider } from './requests/open-requests.tsx'
import { clearDrafts } from './resource/drafts.ts'
import { servicePath } from './service.ts'
import { useSession } from './session.ts'
import { SignIn } from './sign-in/sign-in.tsx'
import { SignedIn } from './signed-in.tsx'

const LinkQuestion = loadLater(async () => (await import('./sign-in/link-question.tsx')).LinkQuestion)
const UnknownPath = lazy(() => import('./unknown-path.tsx'))

interface AppProps {
  /** The key of the link that opened the page. */
  linkedKey: string | undefined
}

export function App(props: AppProps) {
  return (
    <RequestsProvider>
      <Suspense>
        <Page {...props} />
      </Suspense>
    </RequestsProvider>
  )
}

function Page(props: AppProps) {
  // Some proxies serve the console without the slash at the end of the path, too.
  const isConsole = location.pathname.replace(/\/$/, '') === servicePath()
  return isConsole ? <Console {...props} /> : <UnknownPath />
}

function Console({ linkedKey: firstLinkedKey }: AppProps) {
  const [{ apiKey, refusedKey, linkedKey }, { signIn, signOut, refuse, dismissLink }] = useSession(firstLinkedKey)
  // Nothing, instead of a sign-in form that would disappear again.
  if (apiKey === undefined && linkedKey === undefined) return null
  const onSignIn: typeof signIn = (...session) => {
    // After a rejected key, the user continues with another one.
    if (!refusedKey) clearDrafts()
    signIn(...session)
  }
  if (!apiKey) {
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
