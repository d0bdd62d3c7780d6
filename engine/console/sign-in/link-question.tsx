import { Sheet } from '../components/sheet.tsx'
import type { SessionActions } from '../session.ts'
import { SignInForm } from './sign-in-form.tsx'

interface LinkQuestionProps {
  linkedKey: string
  onSignIn: SessionActions['signIn']
  onClose: () => void
}

/** Asks whether the key of a link replaces that of the tab. What the tab shows and does goes on below it. */
export function LinkQuestion({ linkedKey, onSignIn, onClose }: LinkQuestionProps) {
  return (
    <Sheet title="This link has another key" onClose={onClose} isModal holdsEntries>
      <SignInForm linkedKey={linkedKey} onStay={onClose} onSignIn={onSignIn}>
        <p id="sign-in">
          This tab is signed in already. Signing in with the key of the link ends what is in progress here. Other tabs
          keep their key.
        </p>
      </SignInForm>
    </Sheet>
  )
}
