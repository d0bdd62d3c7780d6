import { useDocumentTitle } from '@mantine/hooks'
import './components/buttons.css'
import { IconMapQuestion } from './components/later-icons.tsx'
import { Message } from './components/message.tsx'
import { Header } from './header/header.tsx'
import { pages } from './resource/pages.ts'
import type { SignOutScope } from './session.ts'
import { messages } from './texts/messages.ts'
import { unknownPath } from './texts/unknown-path.ts'

/** The page at a path that the service does not have. Its header is that of the other pages. */
export function UnknownPath({ onSignOut }: { onSignOut?: (scope: SignOutScope) => void }) {
  useDocumentTitle(messages.page.title(unknownPath.title))
  return (
    <>
      <Header {...(onSignOut && { onSignOut })} />
      <main className="page">
        <Message
          icon={<IconMapQuestion />}
          heading="h1"
          title={unknownPath.title}
          text={unknownPath.text(location.pathname)}
        >
          <div className="message-actions">
            <a className="button" href="./">
              {unknownPath.toList(pages()[0].resource)}
            </a>
            <a className="button" data-variant="default" href="./docs/">
              {messages.page.reference}
            </a>
          </div>
        </Message>
      </main>
    </>
  )
}
