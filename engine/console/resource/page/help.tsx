import './help.css'
import { Fragment, useState } from 'react'
import {
  areCharactersOn,
  keyName,
  keysOf,
  type Shortcut,
  setCharactersOn,
  shortcuts,
} from '../../components/keyboard.ts'
import { Sheet } from '../../components/sheet.tsx'
import type { Noun } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { useResource } from '../page-context.ts'

/** The name of the modifier `mod`. */
const control = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl'

/** The shortcuts that a key needs write access for. */
const writes: Shortcut[] = ['add', 'choose', 'edit', 'remove', 'undo']

/** @param label of the field with choices, if there is one */
function actionsOf({ one, many }: Noun, label = 'value') {
  return {
    search: 'Search, or go to an id',
    add: `Add a new ${one}`,
    choose: `Set the ${label} of the ${one}, or of several selected ${many}`,
    option: `Choose a ${label} in the menu`,
    edit: `Edit the ${one}`,
    remove: `Remove the ${one}, or several selected ${many}`,
    undo: 'Undo the last change',
    notice: 'Go to the message about the last change',
    nextItem: `Next ${one}`,
    previousItem: `Previous ${one}`,
    selectItem: `Select the ${one}, or deselect it`,
    selectNext: `Select the next ${one}, too`,
    selectPrevious: `Select the previous ${one}, too`,
    nextPage: 'Next page',
    previousPage: 'Previous page',
    close: 'Close the panel, or clear the selection or the search',
    help: 'Show this help',
  }
}

/** Lists the keyboard shortcuts, and turns off those of one character. */
export function Help({ onClose }: { onClose: () => void }) {
  const { resource } = useResource()
  const { label, choices } = resource.entered.find((field) => field.choices) ?? {}
  const actions = actionsOf(resource, label?.toLowerCase())
  const [isOn, setIsOn] = useState(areCharactersOn)
  const { isReadOnly } = useAccess()
  // Safe: TypeScript types the names of entries as strings.
  const all = Object.keys(shortcuts) as Shortcut[]
  const listed = isReadOnly ? all.filter((shortcut) => !writes.includes(shortcut)) : all
  function change(isChecked: boolean) {
    setCharactersOn(isChecked)
    setIsOn(isChecked)
  }
  return (
    <Sheet title="Keyboard shortcuts" onClose={onClose} size="md" isModal>
      <dl className="shortcuts">
        {listed.map((shortcut) => (
          <Fragment key={shortcut}>
            {shortcut === 'nextItem' && <Row action={`Open the ${resource.one}`} keys={['Enter']} />}
            <Row action={actions[shortcut]} keys={keysOf(shortcut)} />
            {shortcut === 'choose' && choices && (
              <Row action={actions.option} keys={isOn ? Object.keys(choices).map((_, index) => `${index + 1}`) : []} />
            )}
          </Fragment>
        ))}
      </dl>
      <div className="shortcuts-setting">
        <label>
          <input
            type="checkbox"
            checked={isOn}
            aria-describedby="shortcuts-note"
            onChange={(event) => change(event.currentTarget.checked)}
          />
          Single-key shortcuts
        </label>
        <p id="shortcuts-note">Turn them off if speech input or another tool presses letters that you do not mean.</p>
      </div>
    </Sheet>
  )
}

function Row({ action, keys }: { action: string; keys: string[] }) {
  return (
    <div>
      <dt>{action}</dt>
      <dd>
        {keys.map((key) => (
          <kbd key={key} translate="no">
            {key === 'mod+z' ? `${control} z` : keyName(key)}
          </kbd>
        ))}
      </dd>
    </div>
  )
}
