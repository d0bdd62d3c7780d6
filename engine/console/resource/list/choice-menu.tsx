import { textOf } from '#service/fields'
import './choice-menu.css'
import { type KeyboardEvent, useLayoutEffect, useRef } from 'react'
import { choiceIdOf } from '../../components/focus.ts'
import { IconCheck } from '../../components/icons.tsx'
import { Value } from '../../components/value.tsx'
import { areCharactersOn } from '../../keyboard.ts'
import { type Field, type Item, parseChoice } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { useResource } from '../page-context.ts'

function focus(element: Element | undefined): void {
  if (element instanceof HTMLElement) element.focus()
}

interface ChoiceMenuProps {
  field: Field
  /** The item that gets the value, or all selected ones. */
  of: Item | 'selection'
  onChoose: (value: unknown) => void
  onClose: () => void
}

/**
 * The choices of a field, at the element that shows its value (menu button pattern, ARIA Authoring Practices Guide). A first
 * letter moves the focus, and a digit chooses. The browser closes the popover and returns the focus.
 */
export function ChoiceMenu({ field, of, onChoose, onClose }: ChoiceMenuProps) {
  const { resource } = useResource()
  const texts = editTextsOf(resource).edit
  const menu = useRef<HTMLDivElement>(null)
  const { label, choices = {} } = field
  const anchorId = choiceIdOf(of === 'selection' ? of : of.id, field)

  useLayoutEffect(() => {
    const element = menu.current
    const anchor = document.getElementById(anchorId)
    if (!element || !anchor) return onClose()
    anchor.setAttribute('aria-expanded', 'true')
    if (!element.matches(':popover-open')) element.showPopover()
    const at = anchor.getBoundingClientRect()
    const { width, height } = element.getBoundingClientRect()
    const top = at.bottom + height > innerHeight ? at.top - height : at.bottom
    const left = Math.max(8, Math.min(at.left, innerWidth - width - 8))
    Object.assign(element.style, { top: `${top}px`, left: `${left}px` })
    const current = element.querySelector<HTMLElement>('[aria-checked="true"]') ?? element.querySelector('button')
    current?.focus()
    // It would stay where it is.
    const close = ({ target }: Event) => target instanceof Node && target.contains(anchor) && element.hidePopover()
    addEventListener('scroll', close, { capture: true })
    return () => {
      removeEventListener('scroll', close, { capture: true })
      anchor.removeAttribute('aria-expanded')
    }
  }, [anchorId, onClose])

  function choose(choice: string) {
    menu.current?.hidePopover()
    onChoose(parseChoice(field, choice))
  }

  function handleKey(event: KeyboardEvent) {
    const options: Element[] = [...(menu.current?.querySelectorAll('button') ?? [])]
    const index = options.indexOf(document.activeElement ?? document.body)
    const digit = areCharactersOn() ? Number(event.key) : Number.NaN
    const choice = Object.keys(choices)[digit - 1]
    const step = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key]
    const isNamed = (option: Element) => option.textContent?.toLowerCase().startsWith(event.key.toLowerCase())
    const named = options.slice(index + 1).find(isNamed) ?? options.find(isNamed)
    if (event.key === 'Tab') return menu.current?.hidePopover()
    if (choice !== undefined) choose(choice)
    else if (step !== undefined) focus(options.at(step % options.length))
    else if (named && event.key.length === 1) focus(named)
    else return
    event.preventDefault()
  }

  const isChecked = (choice: string) => of !== 'selection' && String(of[field.name]) === choice
  const title = of === 'selection' ? texts.set(label) : texts.of(label, textOf(of[resource.title]))
  return (
    <div
      ref={menu}
      className="choice-menu"
      popover="auto"
      role="menu"
      aria-label={title}
      onKeyDown={handleKey}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
    >
      {Object.keys(choices).map((choice, index) => (
        <button
          key={choice}
          type="button"
          role="menuitemradio"
          tabIndex={-1}
          aria-checked={isChecked(choice)}
          onClick={() => choose(choice)}
        >
          <Value field={field} value={choice} />
          {isChecked(choice) && <IconCheck />}
          {areCharactersOn() && <kbd aria-hidden>{index + 1}</kbd>}
        </button>
      ))}
    </div>
  )
}
