import { Alert, Paper, PasswordInput, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Header } from './components/header.tsx'
import { SteadyButton } from './components/steady-button.tsx'
import { petstoreWith } from './petstore.ts'
import { isTransient, type Problem, problemOf } from './problem.ts'

interface SignInProps {
  wasRefused: boolean
  onSignIn: (apiKey: string) => void
}

export function SignIn({ wasRefused, onSignIn }: SignInProps) {
  const [problem, setProblem] = useState<Problem>()
  const [isChecking, setIsChecking] = useState(false)

  async function check(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const apiKey = String(new FormData(form).get('api-key')).trim()
    setIsChecking(true)
    // An equal message is then a new element, which screen readers announce again.
    setProblem(undefined)
    const found = await problemWith(apiKey)
    setIsChecking(false)
    if (!found) return onSignIn(apiKey)
    setProblem(found)
    form.querySelector('input')?.focus()
  }

  return (
    <>
      <Header />
      <main className="sign-in">
        <Paper component="form" withBorder p="lg" radius="md" noValidate onSubmit={check} aria-labelledby="sign-in">
          <Stack>
            <h2 id="sign-in">Sign in</h2>
            {wasRefused && !problem && (
              <Alert color="orange" title="You were signed out" role="alert">
                The service no longer accepts the key: it was revoked or has expired. Sign in with another one.
              </Alert>
            )}
            {problem && problem.kind !== 'refused' && (
              <Alert color="red" title="The key could not be checked" role="alert">
                {problem.message} {isTransient(problem) && 'Try again in a moment.'}
              </Alert>
            )}
            <PasswordInput
              name="api-key"
              label="API key"
              description="Kept in this tab only, until you close it."
              placeholder="pet_…"
              autoComplete="off"
              autoFocus
              required
              withAsterisk={false}
              error={problem?.kind === 'refused' && problem.message}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the key', tabIndex: 0 }}
            />
            <SteadyButton type="submit" isDisabled={isChecking}>
              {isChecking ? 'Checking…' : 'Sign in'}
            </SteadyButton>
            <Text size="sm" c="dimmed">
              The operator of the service has one: its first start prints a key, and{' '}
              <code>npm run --silent petstore -- keys create shop</code> creates another one.
            </Text>
          </Stack>
        </Paper>
      </main>
    </>
  )
}

async function problemWith(apiKey: string): Promise<Problem | undefined> {
  if (apiKey === '') return { kind: 'refused', message: 'Enter an API key.' }
  // An HTTP header cannot carry other characters.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return { kind: 'refused', message: 'This key is not valid.' }
  try {
    await petstoreWith(apiKey).pets.list.query({ limit: 1 })
    return undefined
  } catch (error) {
    return problemOf(error)
  }
}
