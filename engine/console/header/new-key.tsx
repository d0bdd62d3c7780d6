import { useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { IconPlus } from '../components/icons.tsx'
import { loadLater } from '../components/load-later.tsx'

const NewKeyCommand = loadLater(async () => (await import('../requests/command.tsx')).NewKeyCommand)

/** Shows the command that creates a key: only the command line does that. */
export function NewKey() {
  const [isShown, setIsShown] = useState(false)
  return (
    <>
      <Button variant="gray" icon={<IconPlus />} aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
        Create another key
      </Button>
      {isShown && <NewKeyCommand />}
    </>
  )
}
