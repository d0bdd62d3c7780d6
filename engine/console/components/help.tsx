import './help.css'
import { useState } from 'react'
import { areCharactersOn, keyName, keysOf, type Shortcut, setCharactersOn, shortcuts } from '../keyboard.ts'
import type { Noun } from '../resource.ts'
import { help } from '../texts/help.ts'
import { messages } from '../texts/messages.ts'
import { Sheet } from './sheet.tsx'

/** Lists the keyboard shortcuts, and turns off those of one character. */
export function Help({ noun, onClose }: { noun: Noun; onClose: () => void }) {
  const actions = help.actions(noun)
  const [isOn, setIsOn] = useState(areCharactersOn)
  function change(isChecked: boolean) {
    setCharactersOn(isChecked)
    setIsOn(isChecked)
  }
  return (
    <Sheet title={messages.keyboard.title} onClose={onClose} size="sm" isModal>
      <label className="shortcuts-setting">
        <input type="checkbox" checked={isOn} onChange={(event) => change(event.currentTarget.checked)} />
        {help.characters}
      </label>
      <dl className="shortcuts">
        {/* Safe: TypeScript types the names of entries as strings. */}
        {(Object.keys(shortcuts) as Shortcut[]).map((shortcut) => (
          <div key={shortcut}>
            <dt>{actions[shortcut]}</dt>
            <dd>
              {keysOf(shortcut).map((key) => (
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Sheet>
  )
}
