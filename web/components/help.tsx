import '@mantine/core/styles/Kbd.layer.css'
import './help.css'
import { Kbd } from '@mantine/core'
import { keyName, type Shortcut, shortcuts } from '../keyboard.ts'
import { messages } from '../messages/index.ts'
import { Sheet } from './sheet.tsx'

/** Lists the keyboard shortcuts. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function Help({ onClose }: { onClose: () => void }) {
  return (
    <Sheet title={messages.keyboard.title} onClose={onClose} size="xs">
      <dl className="shortcuts">
        {Object.entries(messages.keyboard.actions).map(([shortcut, action]) => (
          <div key={shortcut}>
            <dt>{action}</dt>
            {/* Safe: the catalogue has an entry for each shortcut. */}
            <dd>
              {shortcuts[shortcut as Shortcut].map((key) => (
                <Kbd key={key}>{keyName(key)}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Sheet>
  )
}
