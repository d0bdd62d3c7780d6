import { loadLater } from './components/load-later.tsx'
import { RequestsProvider } from './requests/open-requests.tsx'
import { clearDrafts } from './resource/drafts.ts'
import { servicePath } from './service.ts'
import { useSession } from './session.ts'
import { SignIn } from './sign-in/sign-in.tsx'
import { SignedIn } from './signed-in.tsx'

const LinkQuestion = loadLater(async () => (await import('./sign-in/link-question.tsx')).LinkQuestion)
const UnknownPath = loadLater(async () => (await import('./unknown-path.tsx')).UnknownPath)

/** @param linkedKey the key of the link that opened the page */
export function App({ linkedKey }: { linkedKey: string | undefined }) {
  // Some proxies serve the console without the slash at the end of the path, too.
  const isConsole = location.pathname.replace(/\/$/, '') === servicePath()
  return <RequestsProvider>{isConsole ? <Console firstLinkedKey={linkedKey} /> : <UnknownPath />}</RequestsProvider>
}

function Console({ firstLinkedKey }: { firstLinkedKey: string | undefined }) {
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
