import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/PasswordInput.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Alert.layer.css'
import './sign-in.css'
import { Alert, Checkbox, PasswordInput } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { SteadyButton } from './components/buttons.tsx'
import { Header } from './components/header.tsx'
import { messages } from './messages/index.ts'
import { petstoreWith } from './petstore.ts'
import { isTransient, type Problem, problemOf } from './problem.ts'
import type { SessionActions } from './session.ts'

interface SignInProps {
  wasRefused: boolean
  onSignIn: SessionActions['signIn']
}

// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function SignIn({ wasRefused, onSignIn }: SignInProps) {
  const [problem, setProblem] = useState<Problem>()
  const [isChecking, setIsChecking] = useState(false)
  useDocumentTitle(messages.page.title(messages.session.title))

  async function check(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const entries = new FormData(form)
    const apiKey = String(entries.get('api-key')).trim()
    setIsChecking(true)
    // An equal message is then a new element, which screen readers announce again.
    setProblem(undefined)
    const found = await problemWith(apiKey)
    setIsChecking(false)
    if (!found) return onSignIn(apiKey, { remember: entries.has('remember') })
    setProblem(found)
    form.querySelector('input')?.focus()
  }

  return (
    <>
      <Header />
      <main className="page">
        <form className="sign-in" noValidate onSubmit={check} aria-labelledby="sign-in">
          <h1 id="sign-in">{messages.session.title}</h1>
          {wasRefused && !problem && (
            <Alert color="orange" title={messages.session.signedOut} role="alert">
              {messages.session.signedOutText}
            </Alert>
          )}
          {problem && problem.kind !== 'refused' && (
            <Alert color="red" title={messages.session.notChecked} role="alert">
              {problem.message} {isTransient(problem) && messages.session.tryLater}
            </Alert>
          )}
          <PasswordInput
            name="api-key"
            label={messages.session.apiKey}
            placeholder="pet_…"
            autoComplete="off"
            autoFocus
            required
            withAsterisk={false}
            error={problem?.kind === 'refused' && problem.message}
            visibilityToggleButtonProps={{ 'aria-label': messages.session.showKey, tabIndex: 0 }}
          />
          <Checkbox
            name="remember"
            size="xs"
            label={messages.session.remember}
            description={messages.session.rememberText}
          />
          <SteadyButton type="submit" isDisabled={isChecking}>
            {isChecking ? messages.session.checking : messages.session.signIn}
          </SteadyButton>
          <p className="sign-in-help">
            {messages.session.whereToGetOne} <code>npx petstore keys create shop</code>
          </p>
        </form>
      </main>
    </>
  )
}

async function problemWith(apiKey: string): Promise<Problem | undefined> {
  if (apiKey === '') return { kind: 'refused', message: messages.session.keyMissing }
  // An HTTP header cannot carry other characters.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return { kind: 'refused', message: messages.session.keyInvalid }
  try {
    await petstoreWith(apiKey).pets.list.query({ limit: 1 })
    return undefined
  } catch (error) {
    return problemOf(error)
  }
}
