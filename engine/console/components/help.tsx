import './help.css'
import { keyName, type Shortcut, shortcuts } from '../keyboard.ts'
import type { Noun } from '../resource.ts'
import { messages } from '../texts/messages.ts'
import { Sheet } from './sheet.tsx'

/** Lists the keyboard shortcuts. */
export function Help({ noun, onClose }: { noun: Noun; onClose: () => void }) {
  const { keyboard } = messages
  const actions = keyboard.actions(noun)
  return (
    <Sheet title={keyboard.title} onClose={onClose} size="sm" isModal>
      <dl className="shortcuts">
        {/* Safe: TypeScript types the names of entries as strings. */}
        {(Object.keys(shortcuts) as Shortcut[]).map((shortcut) => (
          <div key={shortcut}>
            <dt>{actions[shortcut]}</dt>
            <dd>
              {shortcuts[shortcut].map((key) => (
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Sheet>
  )
}
