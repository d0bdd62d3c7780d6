import { useDocumentTitle } from '@mantine/hooks'
import './components/buttons.css'
import { IconMapQuestion } from './components/later-icons.tsx'
import { Message } from './components/message.tsx'
import { Header } from './header/header.tsx'
import { pages } from './resource/pages.ts'
import { messages } from './texts/messages.ts'

/** The page at a path that the service does not have. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function UnknownPath() {
  useDocumentTitle(messages.page.title(messages.page.unknownPath))
  return (
    <>
      <Header />
      <main className="page">
        <Message
          icon={<IconMapQuestion />}
          heading="h1"
          title={messages.page.unknownPath}
          text={messages.page.unknownPathText(location.pathname)}
        >
          <div className="message-actions">
            <a className="button" href="./">
              {messages.page.toList(pages()[0].resource)}
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
