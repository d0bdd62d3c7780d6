import { type KeyboardEvent, type MouseEvent, useReducer, useRef, useState } from 'react'
import { textOf } from '#service/fields'
import { Button } from '../../components/buttons.tsx'
import { editButtonIdOf, useFocusReturn } from '../../components/focus.ts'
import { entryIn, FieldInput, readEntry } from '../../form/field-input.tsx'
import { shownText } from '../../formats.ts'
import { type Field, type Item, isSame, type Resource } from '../../resource.ts'
import { fieldDrafts } from '../drafts.ts'
import { useList, useResource } from '../page-context.ts'
import { Named, quoted } from './edit-text.tsx'
import { useAuthor } from './history.ts'

interface EditFieldProps {
  item: Item
  field: Field
  onClose: () => void
}

/**
 * Edits one value where it stands. Enter saves it, Escape restores it, and leaving the field saves it if it is valid. A draft
 * is kept while another item is shown, and across a reload.
 */
export function EditField({ item, field, onClose }: EditFieldProps) {
  const { resource } = useResource()
  const { edit } = useList()
  const { name, label } = field
  const key = draftKeyOf(resource, item, field)
  const [draft] = useState(() => fieldDrafts.get(key) ?? { text: textOf(item[name]), seen: item[name] })
  /** The value that the user began to edit. */
  const [seen, setSeen] = useState(draft.seen)
  /** The value before the one that was taken over. */
  const [replaced, setReplaced] = useState<{ value: unknown }>()
  const [text, setText] = useState(draft.text)
  const [error, setError] = useState(() =>
    fieldDrafts.has(key) ? readEntry(resource, field, text).problem : undefined,
  )
  const isOver = useRef(false)
  const editor = useRef<HTMLDivElement>(null)
  /** How often the Enter key was pressed, instead of a button below. */
  const [refusals, refuse] = useReducer((count: number) => count + 1, 0)
  useFocusReturn(() => document.getElementById(editButtonIdOf(field.name)))
  const isChanged = !isSame(item[name], seen)
  // Where nothing was typed, there is nothing to choose.
  if (isChanged && text === textOf(seen)) {
    setReplaced({ value: seen })
    setSeen(item[name])
    setText(textOf(item[name]))
  }

  function end() {
    isOver.current = true
    fieldDrafts.delete(key)
    onClose()
  }

  /** Returns what is wrong with the value. */
  function save(): string | undefined {
    const { value, problem } = readEntry(resource, field, entryIn(editor.current?.querySelector('input'), text))
    if (problem) return problem
    // The form would change the white space of a stored text.
    if (text !== textOf(item[name])) edit(item, { [name]: value })
    end()
    return undefined
  }

  function handleKey(event: KeyboardEvent) {
    const isInField = event.target instanceof HTMLInputElement
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') end()
    else if (event.key !== 'Enter' || !isInField) return
    // The focus stays where the user is typing: the next key must not press a button.
    else if (isChanged) refuse()
    else setError(save())
    // The key closes the panel, too.
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div ref={editor} className="edit-field">
      <FieldInput
        field={field}
        aria-label={label}
        isSmall
        // Not a draft, nor what is typed when the window gets the focus again: the next key would replace it.
        onFocus={({ currentTarget }) => 'select' in currentTarget && text === textOf(seen) && currentTarget.select()}
        isFirst
        value={text}
        error={error}
        description={isChanged ? undefined : 'Enter or leaving saves, Esc discards'}
        end={
          isChanged || (
            <kbd aria-hidden translate="no">
              ↵
            </kbd>
          )
        }
        onChange={({ currentTarget: { value } }) => {
          setError(undefined)
          setText(value)
          fieldDrafts.set(key, { text: value, seen })
        }}
        onKeyDown={handleKey}
        // Not for a click on a button below, or when another window gets the focus.
        onBlur={({ relatedTarget }) => {
          if (!isOver.current && !relatedTarget?.closest('.edit-field') && document.hasFocus() && !isChanged)
            setError(save())
        }}
      />
      {!isChanged && (
        // Otherwise the field would lose the focus, and save the text.
        <div className="edit-field-buttons">
          <Button variant="default" size="xs" onMouseDown={preventDefault} onClick={end}>
            Cancel
          </Button>
          <Button size="xs" onMouseDown={preventDefault} onClick={() => setError(save())}>
            Save
          </Button>
        </div>
      )}
      {replaced && !isChanged && (
        <p className="edit-field-meanwhile" role="status">
          <Meanwhile key={textOf(item[name])} item={item} field={field} seen={replaced.value} />
        </p>
      )}
      {isChanged && (
        <p className="edit-field-meanwhile">
          <Meanwhile key={textOf(item[name])} item={item} field={field} seen={seen} refusals={refusals} />
          <Button variant="default" size="xs" onClick={end} onKeyDown={handleKey}>
            Keep theirs
          </Button>
          <Button
            size="xs"
            onKeyDown={handleKey}
            onClick={() => {
              setSeen(item[name])
              setError(save())
            }}
          >
            Use mine
          </Button>
        </p>
      )}
    </div>
  )
}

function preventDefault(event: MouseEvent): void {
  event.preventDefault()
}

interface MeanwhileProps extends Omit<EditFieldProps, 'onClose'> {
  /** The value that the user began to edit. */
  seen: unknown
  /** Undefined if there is nothing to choose. */
  refusals?: number
}

/** Says who has changed the value, and after the Enter key that the user has to choose. */
function Meanwhile({ item, field, seen, refusals }: MeanwhileProps) {
  const { keyName, isLoading } = useAuthor({ seen: item, set: { [field.name]: undefined } }, true)
  if (isLoading) return null
  const [former, value] = [shownText(field, seen), shownText(field, item[field.name])]
  const text = `${keyName ?? 'Someone'} changed it from ${quoted(former)} to ${quoted(value)}.`
  return (
    <span key={refusals} role={refusals === undefined ? undefined : 'alert'}>
      <Named text={text} names={[...(keyName ? [keyName] : []), former, value]} />{' '}
      {!!refusals && 'Choose “Keep theirs” or “Use mine”.'}
    </span>
  )
}

/** The key of the draft of a value. */
export function draftKeyOf({ many }: Resource, { id }: Pick<Item, 'id'>, { name }: Field): string {
  return `${many}:${id}:${name}`
}
