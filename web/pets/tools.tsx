import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Kbd.layer.css'
import './tools.css'
import { Button, Kbd, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, type RefObject, useState } from 'react'
import { hint } from '../components/hint.ts'
import { IconPlus } from '../components/icons.tsx'
import { keyName, shortcuts } from '../keyboard.ts'
import { messages } from './messages.ts'
import { parseId } from './view.ts'

interface ToolsProps {
  /** The field for an id. */
  goToId: RefObject<HTMLInputElement | null>
  onFind: (petId: bigint) => void
  onAdd: () => void
  /** Called when the user may be about to add a pet. */
  onAddIntent: () => void
  /** Further tools. */
  children?: ReactNode
}

export function Tools({ goToId, onFind, onAdd, onAddIntent, children }: ToolsProps) {
  return (
    <div className="tools">
      <GoToId field={goToId} onFind={onFind} />
      {children}
      <Button
        leftSection={<IconPlus />}
        {...hint(messages.add.title, 'add')}
        onPointerEnter={onAddIntent}
        onFocus={onAddIntent}
        onClick={onAdd}
      >
        {messages.add.title}
      </Button>
    </div>
  )
}

interface ToolProps {
  label: string
  icon: ReactNode
  onClick: () => void
}

/** A button that shows its label if the window is wide. */
export function Tool({ label, icon, onClick }: ToolProps) {
  return (
    <Button
      variant="subtle"
      color="gray"
      className="tool"
      leftSection={icon}
      aria-label={label}
      {...hint(label)}
      onClick={onClick}
    >
      {label}
    </Button>
  )
}

interface GoToIdProps {
  field: RefObject<HTMLInputElement | null>
  onFind: (petId: bigint) => void
}

function GoToId({ field, onFind }: GoToIdProps) {
  const [error, setError] = useState<string>()

  function find(event: FormEvent) {
    event.preventDefault()
    const petId = parseId(field.current?.value.trim() ?? '')
    setError(petId === undefined ? messages.list.idInvalid : undefined)
    if (petId === undefined) field.current?.select()
    else onFind(petId)
  }

  return (
    <search>
      <form className="go-to-id" noValidate onSubmit={find}>
        <TextInput
          ref={field}
          aria-label={messages.list.goToId}
          placeholder={messages.list.goToId}
          inputMode="numeric"
          enterKeyHint="go"
          autoComplete="off"
          error={error}
          rightSection={<Kbd aria-hidden>{keyName(shortcuts.goToId[0] ?? '')}</Kbd>}
          onChange={() => setError(undefined)}
        />
      </form>
    </search>
  )
}
