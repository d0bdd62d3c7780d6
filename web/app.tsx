import { Shop } from './pets/shop.tsx'
import { useSession } from './session.ts'
import { SignIn } from './sign-in.tsx'

export function App() {
  const [{ apiKey, wasRefused }, { signIn, signOut, refuse }] = useSession()
  if (apiKey === undefined) return <SignIn wasRefused={wasRefused} onSignIn={signIn} />
  return <Shop apiKey={apiKey} onSignOut={signOut} onRefused={() => refuse(apiKey)} />
}
