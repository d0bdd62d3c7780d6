import { useWindowEvent } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { Value } from '../components/value.tsx'
import { keyName, shortcuts } from '../keyboard.ts'
import { type Page, usePage } from '../resource/use-page.ts'
import type { SignOutScope } from '../session.ts'
import type { Command } from './command.ts'
import { useCommands } from './commands.ts'
import { Label } from './label.tsx'

interface OptionsProps {
  id: string
  text: string
  /** Whether Enter was pressed. Its option runs as soon as it is known. */
  isEntered: boolean
  /** Called when the option runs, or when there is none. */
  onEntered: () => void
  /** Called with the id of the selected option. */
  onSelect: (id: string | undefined) => void
  onClose: () => void
  onSignOut: (scope: SignOutScope) => void
}

/** What the text finds. The keyboard focus stays in the field. */
export function Options({ id, text, isEntered, onEntered, onSelect, onClose, onSignOut }: OptionsProps) {
  const page = usePage()
  const { palette } = page.texts
  const { commands, isLoading } = useCommands(text, onSignOut)
  const [position, setPosition] = useState({ text, index: 0 })
  const [done, setDone] = useState<string>()
  // Another text begins with its first option.
  const index = position.text === text ? Math.min(position.index, commands.length - 1) : 0
  const selected = commands[index]
  const idOf = ({ name }: Command) => `${id}-${name}`
  const selectedId = selected && idOf(selected)
  useEffect(() => {
    onSelect(selectedId)
    if (selectedId !== undefined) document.getElementById(selectedId)?.scrollIntoView({ block: 'nearest' })
  }, [selectedId, onSelect])

  async function run({ copies, run: start }: Command) {
    if (copies) return setDone(await navigator.clipboard.writeText(copies()).then(() => palette.copied))
    // The page behind the dialog can have the focus only then.
    flushSync(onClose)
    start?.()
  }

  const mayChange = isLoading && (!selected || (index === 0 && selected.group === 'items' && selected.name !== 'id'))
  useEffect(() => {
    if (!isEntered || mayChange) return
    onEntered()
    // After this effect: the command closes the palette.
    if (selected) queueMicrotask(() => void run(selected))
  })

  useWindowEvent('keydown', (event) => {
    if (event.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setPosition({ text, index: (index + step + commands.length) % commands.length })
  })

  const groups = [...new Set(commands.map(({ group }) => group))]
  const isEmpty = commands.length === 0
  return (
    <>
      <div id={id} role="listbox" aria-label={palette.title}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a list of options.
          <div key={group} role="group" aria-label={headingOf(page, group)}>
            <div className="palette-heading" aria-hidden>
              {headingOf(page, group)}
            </div>
            {commands.map(
              (command, each) =>
                command.group === group && (
                  // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and handles the keys.
                  <div
                    key={command.name}
                    id={idOf(command)}
                    role="option"
                    aria-selected={each === index}
                    onPointerMove={() => each !== index && setPosition({ text, index: each })}
                    onClick={() => void run(command)}
                  >
                    {command.icon ? <command.icon /> : page.icon}
                    <Label label={command.label} text={text} />
                    <Details command={command} />
                  </div>
                ),
            )}
          </div>
        ))}
      </div>
      <div className="palette-foot">
        <p role="status">{done ?? (isEmpty && !isLoading && palette.nothing)}</p>
        <p className="palette-keys" aria-hidden>
          <kbd>↑</kbd> <kbd>↓</kbd> {palette.keys.move} <kbd>↵</kbd> {palette.keys.run} <kbd>{keyName('Escape')}</kbd>{' '}
          {palette.keys.close}
        </p>
      </div>
    </>
  )
}

function headingOf({ texts, selection }: Page, group: Command['group']): string {
  switch (group) {
    case 'items':
      return texts.list.title(undefined)
    case 'selection':
      return texts.list.selected(selection.count)
    default:
      return texts.palette.groups[group]
  }
}

function Details({ command: { item, shortcut } }: { command: Command }) {
  const { resource } = usePage()
  const [key] = shortcut ? shortcuts[shortcut] : []
  if (key) return <kbd aria-hidden>{keyName(key)}</kbd>
  if (!item) return null
  return (
    <>
      <span className="number dimmed">#{String(item.id)}</span>
      {resource.fields
        .filter(({ choices, isDetail }) => choices && !isDetail)
        .map((field) => (
          <Value key={field.name} field={field} value={item[field.name]} />
        ))}
    </>
  )
}
