import './command.css'
import { useState } from 'react'
import { CopyButton } from '../components/copy-button.tsx'
import { product } from '../service.ts'

/** A command for a terminal, with a button that copies it. */
export function Command({ label, command }: { label: string; command: string }) {
  return (
    <div className="command">
      <p>{label}</p>
      <div>
        <code translate="no">{command}</code>
        <CopyButton label="Copy the command" value={command} />
      </div>
    </div>
  )
}

/** The command that creates a key. With another name each time, because two keys in use cannot have the same name. */
export function NewKeyCommand() {
  const [name] = useState(() => `console-${Math.random().toString(36).slice(2, 7)}`)
  return (
    <Command
      label="The person who runs the service creates keys: run this in its folder, with its environment variables, such as DATABASE_URL:"
      command={`npx --no -- ${product().command} keys create ${name}`}
    />
  )
}
