import { useState } from 'react'
import { Command } from '../requests/command.tsx'
import { product } from '../service.ts'

/** The command that creates a key: only the command line does that. */
export function NewKeyCommand({ label }: { label: string }) {
  const [command] = useState(commandForNewKey)
  return <Command label={label} command={command} />
}

/** With another name each time, because two keys in use cannot have the same name. */
function commandForNewKey(): string {
  return `npx --no -- ${product().command} keys create console-${Math.random().toString(36).slice(2, 7)}`
}
