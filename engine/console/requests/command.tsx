import './command.css'
import { CopyButton } from '../components/copy-button.tsx'
import { messages } from '../texts/messages.ts'

/** A command for a terminal, with a button that copies it. */
export function Command({ label, command }: { label: string; command: string }) {
  return (
    <div className="command">
      <p>{label}</p>
      <div>
        <code translate="no">{command}</code>
        <CopyButton label={messages.requests.copyCurl} value={command} />
      </div>
    </div>
  )
}
