import { useDocumentTitle } from '@mantine/hooks'
import './components/buttons.css'
import { IconMapQuestion } from './components/later-icons.tsx'
import { Message } from './components/message.tsx'
import { Header } from './header/header.tsx'
import { pages } from './resource/pages.ts'
import { messages } from './texts/messages.ts'
import { unknownPath } from './texts/unknown-path.ts'

/** The page at a path that the service does not have. */
export function UnknownPath() {
  useDocumentTitle(messages.page.title(unknownPath.title))
  return (
    <>
      <Header />
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
