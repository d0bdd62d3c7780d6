import './palette.css'
import { type KeyboardEvent, Suspense, useEffect, useId, useRef, useState } from 'react'
import { useFocusReturn } from '../components/focus.ts'
import { loadLater } from '../components/load-later.tsx'
import { useCloseOnBack } from '../history.ts'
import { usePage } from '../resource/use-page.ts'
import type { SignOutScope } from '../session.ts'

export const Options = loadLater(async () => (await import('./options.tsx')).Options)

interface PaletteProps {
  onClose: () => void
  onSignOut: (scope: SignOutScope) => void
}

/** Finds items and commands. The field is not loaded later, so it gets every key after the shortcut. */
export function Palette({ onClose, onSignOut }: PaletteProps) {
  const { texts } = usePage()
  const [text, setText] = useState('')
  /** The id of the selected option. */
  const [selected, setSelected] = useState<string>()
  /** Whether Enter was the last key. The options may not be loaded then, or the items not found. */
  const [isEntered, setIsEntered] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useId()
  useFocusReturn()
  useCloseOnBack(onClose)
  useEffect(() => {
    const { current } = dialog
    current?.showModal()
    // The rest of the page is inert until then.
    return () => current?.close()
  }, [])

  function handleKey(event: KeyboardEvent) {
    const isEnter = event.key === 'Enter' && !event.nativeEvent.isComposing
    const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
    setIsEntered(isEnter)
    if (isShortcut) onClose()
    if (isEnter || isShortcut) event.preventDefault()
  }

  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-modal
      aria-label={texts.palette.title}
      onKeyDown={handleKey}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className="palette-content">
        <input
          className="palette-field"
          role="combobox"
          aria-label={texts.palette.title}
          aria-expanded={selected !== undefined}
          aria-autocomplete="list"
          aria-controls={selected && list}
          aria-activedescendant={selected}
          placeholder={texts.palette.placeholder}
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          dir="auto"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setIsEntered(false)
          }}
        />
        <div className="palette-options">
          <Suspense>
            <Options
              id={list}
              text={text}
              isEntered={isEntered}
              onEntered={() => setIsEntered(false)}
              onSelect={setSelected}
              onClose={onClose}
              onSignOut={onSignOut}
            />
          </Suspense>
        </div>
      </div>
    </dialog>
  )
}
