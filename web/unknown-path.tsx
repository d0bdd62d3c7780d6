import '@mantine/core/styles/EmptyState.layer.css'
import { Button, EmptyState } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Header } from './components/header.tsx'
import { IconMapQuestion } from './components/icons.tsx'
import { messages } from './messages/index.ts'

/** The page at any path but the one of the console. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function UnknownPath() {
  useDocumentTitle(messages.page.title(messages.page.unknownPath))
  return (
    <>
      <Header />
      <main className="page">
        <EmptyState className="message" icon={<IconMapQuestion />}>
          <EmptyState.Title order={1}>{messages.page.unknownPath}</EmptyState.Title>
          <EmptyState.Description>{messages.page.unknownPathText(location.pathname)}</EmptyState.Description>
          <EmptyState.Actions>
            <Button component="a" href="./">
              {messages.page.toPets}
            </Button>
            <Button component="a" href="./docs/" variant="default">
              {messages.page.reference}
            </Button>
          </EmptyState.Actions>
        </EmptyState>
      </main>
    </>
  )
}
