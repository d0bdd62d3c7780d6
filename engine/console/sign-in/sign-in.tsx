import { useDocumentTitle } from '@mantine/hooks'
import { Header } from '../header/header.tsx'
import { messages } from '../texts/messages.ts'
import { SignInForm, type SignInProps } from './sign-in-form.tsx'

/** The page of somebody who is not signed in. Part of the first load: a request of its own would take longer. */
export function SignIn(props: SignInProps) {
  const { page, session } = messages
  useDocumentTitle(page.title(session.title))
  return (
    <>
      <Header />
      <main className="page">
        <SignInForm {...props}>
          <h1 id="sign-in">{session.title}</h1>
        </SignInForm>
      </main>
    </>
  )
}
