import { lazy, Suspense } from 'react'
import { Hints } from './components/hints.tsx'
import { servicePath } from './service.ts'
import { useSession } from './session.ts'
import { Shop } from './shop.tsx'

const SignIn = lazy(() => import('./sign-in.tsx'))
const UnknownPath = lazy(() => import('./unknown-path.tsx'))

export function App() {
  return (
    <>
      <Suspense>{isConsole() ? <Console /> : <UnknownPath />}</Suspense>
      <Hints />
    </>
  )
}

/** Some proxies serve the console without the slash at the end of the path, too. */
function isConsole(): boolean {
  return location.pathname.replace(/\/$/, '') === servicePath()
}

function Console() {
  const [{ apiKey, wasRefused }, { signIn, signOut, refuse }] = useSession()
  // Nothing, instead of a sign-in form that would disappear again.
  if (apiKey === undefined) return null
  if (apiKey === null) return <SignIn wasRefused={wasRefused} onSignIn={signIn} />
  return <Shop key={apiKey} apiKey={apiKey} onSignOut={() => signOut(apiKey)} onRefused={() => refuse(apiKey)} />
}
