import './sign-in.css'
import { useDocumentTitle } from '@mantine/hooks'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { isPossibleKey } from '../api-key.ts'
import { clientWith } from '../client.ts'
import { Button, IconButton } from '../components/buttons.tsx'
import { IconEye, IconEyeOff } from '../components/icons.tsx'
import { Notice } from '../form/notice.tsx'
import { TextField } from '../form/text-field.tsx'
import { Header } from '../header/header.tsx'
import { NewKey } from '../header/new-key.tsx'
import { isTransient, keyInvalid, type Problem, problemOf } from '../problem.ts'
import { product, serviceUrl } from '../service.ts'
import type { SessionActions } from '../session.ts'

interface SignInProps {
  /** Whether the service rejected the key of the previous session. */
  wasRefused?: boolean
  /** The key of the link that opened the form. The form checks it at once, unless the tab is signed in with another key. */
  linkedKey: string | undefined
  /** Returns to the session of the tab, if it has one. */
  onStay?: () => void
  onSignIn: SessionActions['signIn']
  /** The heading, with the id `sign-in`, and what the user needs to know. */
  children?: ReactNode
}

export function SignInForm({ wasRefused, linkedKey, onStay, onSignIn, children }: SignInProps) {
  const [problem, setProblem] = useState<Problem>()
  const [isShown, setIsShown] = useState(false)
  const [isChecking, setIsChecking] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const isLinkToCheck = linkedKey !== undefined && !onStay
  useEffect(() => {
    if (isLinkToCheck) field.current?.form?.requestSubmit()
  }, [isLinkToCheck])

  async function check(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const entries = new FormData(event.currentTarget)
    const apiKey = String(entries.get('api-key')).trim()
    setIsChecking(true)
    // An equal message is then a new element, which screen readers announce again.
    setProblem(undefined)
    const found = await problemWith(apiKey)
    // The user may have closed the form meanwhile.
    if (!field.current) return
    setIsChecking(false)
    if (!found) return onSignIn(apiKey, { remember: entries.has('remember') })
    setProblem(found)
    field.current?.focus()
  }

  return (
    <form className="sign-in" noValidate onSubmit={check} aria-labelledby="sign-in">
      {children}
      {wasRefused && !problem && (
        <Notice title="You were signed out">
          The service no longer accepts the key: it was revoked or has expired. Sign in with another one.
        </Notice>
      )}
      {problem && problem.kind !== 'refused' && (
        <Notice title="The key could not be checked" problem={problem}>
          <span>{problem.message}</span> {isTransient(problem) && <span>Try again in a moment.</span>}
        </Notice>
      )}
      {/* A password manager stores a key under this name. It differs for each service of an origin. */}
      <input name="username" autoComplete="username" value={serviceName()} readOnly hidden />
      <TextField
        ref={field}
        type={isShown ? 'text' : 'password'}
        name="api-key"
        label="API key"
        placeholder={`${product().keyPrefix}…`}
        defaultValue={linkedKey}
        autoComplete="current-password"
        autoFocus
        data-autofocus
        required
        error={problem?.kind === 'refused' && problem.message}
        end={
          <IconButton label="Show the key" size="xs" aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
            {isShown ? <IconEyeOff /> : <IconEye />}
          </IconButton>
        }
      />
      <div className="remember">
        <input id="remember" name="remember" type="checkbox" aria-describedby="remember-note" />
        <label htmlFor="remember">Remember on this device</label>
        <p id="remember-note">Until you sign out. Otherwise, the key is forgotten when you close your last tab.</p>
      </div>
      <Button type="submit" isDisabled={isChecking}>
        {isChecking ? 'Checking…' : 'Sign in'}
      </Button>
      {onStay && (
        <Button variant="default" onClick={onStay}>
          Stay signed in
        </Button>
      )}
      <div className="first-key">
        <p>Ask the person who runs the service for a key. At its first start, the service prints one.</p>
        <NewKey />
      </div>
    </form>
  )
}

/** The page of somebody who is not signed in. Part of the first load: a request of its own would take longer. */
export function SignIn(props: SignInProps) {
  useDocumentTitle(`Sign in · ${product().name}`)
  return (
    <>
      <Header />
      <main className="page">
        <SignInForm {...props}>
          <h1 id="sign-in">Sign in</h1>
        </SignInForm>
      </main>
    </>
  )
}

async function problemWith(apiKey: string): Promise<Problem | undefined> {
  if (apiKey === '') return { kind: 'refused', message: 'Enter an API key.' }
  if (!isPossibleKey(apiKey)) return { kind: 'refused', message: keyInvalid }
  try {
    await clientWith(apiKey).session.current.query()
    return undefined
  } catch (error) {
    return problemOf(error)
  }
}

/** The address of the service without the protocol, such as `shop.example/api`. */
function serviceName(): string {
  return serviceUrl().replace(/^\w+:\/\//, '')
}
