import { useDocumentTitle } from '@mantine/hooks'
import './components/buttons.css'
import { IconMapQuestion } from './components/later-icons.tsx'
import { Message } from './components/message.tsx'
import { Header } from './header/header.tsx'
import { pages } from './resource/pages.ts'
import { product } from './service.ts'
import type { SignOutScope } from './session.ts'

/** The page at a path that the service does not have. Its header is that of the other pages. */
export function UnknownPath({ onSignOut }: { onSignOut?: (scope: SignOutScope) => void }) {
  useDocumentTitle(`Page not found · ${product().name}`)
  return (
    <>
      <Header {...(onSignOut && { onSignOut })} />
      <main className="page">
        <Message
          icon={<IconMapQuestion />}
          heading="h1"
          title="Page not found"
          text={`This service has nothing at ${location.pathname}.`}
        >
          <div className="message-actions">
            <a className="button" href="./">
              {`Go to the ${pages()[0].resource.many}`}
            </a>
            <a className="button" data-variant="default" href="./docs/">
              API reference
            </a>
          </div>
        </Message>
      </main>
    </>
  )
}
