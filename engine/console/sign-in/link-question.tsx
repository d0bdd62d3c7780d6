import { Sheet } from '../components/sheet.tsx'
import type { SessionActions } from '../session.ts'
import { messages } from '../texts/messages.ts'
import { SignInForm } from './sign-in-form.tsx'

interface LinkQuestionProps {
  linkedKey: string
  onSignIn: SessionActions['signIn']
  onClose: () => void
}

/** Asks whether the key of a link replaces that of the tab. What the tab shows and does goes on below it. */
export function LinkQuestion({ linkedKey, onSignIn, onClose }: LinkQuestionProps) {
  const { session } = messages
  return (
    <Sheet title={session.link} onClose={onClose} isModal holdsEntries>
      <SignInForm linkedKey={linkedKey} onStay={onClose} onSignIn={onSignIn}>
        <p id="sign-in">{session.linkText}</p>
      </SignInForm>
    </Sheet>
  )
}
