import { lazy, Suspense } from 'react'
import { Hints } from './components/hints.tsx'
import { Shop } from './pets/shop.tsx'
import { useSession } from './session.ts'

const SignIn = lazy(() => import('./sign-in.tsx'))
const UnknownPath = lazy(() => import('./unknown-path.tsx'))

export function App() {
  return (
    <>
      <Suspense>{location.pathname === '/' ? <Console /> : <UnknownPath />}</Suspense>
      <Hints />
    </>
  )
}

function Console() {
  const [{ apiKey, wasRefused }, { signIn, signOut, refuse }] = useSession()
  // Nothing, instead of a sign-in form that would disappear again.
  if (apiKey === undefined) return null
  if (apiKey === null) return <SignIn wasRefused={wasRefused} onSignIn={signIn} />
  return <Shop key={apiKey} apiKey={apiKey} onSignOut={() => signOut(apiKey)} onRefused={() => refuse(apiKey)} />
}
