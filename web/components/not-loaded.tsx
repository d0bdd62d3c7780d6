import { Button } from '@mantine/core'
import { messages } from '../messages/index.ts'

const texts = messages.notLoaded

/** Replaces a panel whose code could not be loaded. React does not load it again until the page is reloaded. */
export function NotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <div className="not-loaded" role="alert">
      <p>{texts.text}</p>
      <Button variant="default" size="xs" onClick={() => location.reload()}>
        {texts.reload}
      </Button>
      <Button variant="default" size="xs" onClick={onClose}>
        {messages.page.close}
      </Button>
    </div>
  )
}
