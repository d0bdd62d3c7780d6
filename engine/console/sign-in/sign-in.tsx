import { useDocumentTitle } from '@mantine/hooks'
import { Header } from '../header/header.tsx'
import { messages } from '../texts/messages.ts'
import { SignInForm, type SignInProps } from './sign-in-form.tsx'

// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function SignIn(props: SignInProps) {
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
