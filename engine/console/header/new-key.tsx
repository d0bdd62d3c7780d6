import { useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { IconPlus } from '../components/icons.tsx'
import { Command } from '../requests/command.tsx'
import { product } from '../service.ts'
import { messages } from '../texts/messages.ts'

/** Shows the command that creates a key: only the command line does that. */
export function NewKey() {
  const [isShown, setIsShown] = useState(false)
  const [command] = useState(commandForNewKey)
  return (
    <>
      <Button variant="gray" icon={<IconPlus />} aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
        {messages.session.newKey}
      </Button>
      {isShown && <Command label={messages.session.newKeyText} command={command} />}
    </>
  )
}

/** With another name each time, because two keys in use cannot have the same name. */
function commandForNewKey(): string {
  return `npx --no -- ${product().command} keys create console-${Math.random().toString(36).slice(2, 7)}`
}
