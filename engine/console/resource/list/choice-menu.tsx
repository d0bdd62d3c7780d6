import { textOf } from '#service/fields'
import './choice-menu.css'
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef } from 'react'
import { choiceIdOf } from '../../components/focus.ts'
import { IconCheck } from '../../components/icons.tsx'
import { areCharactersOn } from '../../components/keyboard.ts'
import { Value } from '../../components/value.tsx'
import { type Field, type Item, parseChoice } from '../../resource.ts'
import { useChoose } from '../item/use-choose.ts'
import { useResource } from '../page-context.ts'

interface ChoiceMenuProps {
  field: Field
  /** The item that gets the value, or all selected ones. */
  of: Item | 'selection'
  /** Sets the value of the selected items. */
  onChoose?: (value: unknown) => void
  onClose: () => void
}

/** The choices of a field, at the element that shows its value. */
export function ChoiceMenu({ field, of, onChoose, onClose }: ChoiceMenuProps) {
  const { resource } = useResource()
  const choose = useChoose()
  const { name, label, choices = {} } = field
  return (
    <Menu
      anchorId={choiceIdOf(of === 'selection' ? of : of.id, field)}
      label={of === 'selection' ? `Set ${label.toLowerCase()}` : `${label} of ${textOf(of[resource.title])}`}
      options={Object.keys(choices).map((choice) => [choice, <Value key={choice} field={field} value={choice} />])}
      checked={of === 'selection' ? '' : String(of[name])}
      onChoose={(choice) => {
        const value = parseChoice(field, choice)
        if (of === 'selection') onChoose?.(value)
        else choose(of, field, value)
      }}
      onClose={onClose}
    />
  )
}

interface MenuProps {
  /** The id of the button that opens it. */
  anchorId: string
  label: string
  options: [name: string, content: ReactNode][]
  /** The option that is the current one. Undefined if the options are actions. */
  checked?: string
  onChoose: (option: string) => void
  onClose: () => void
}

/**
 * A menu at its button (menu button pattern, ARIA Authoring Practices Guide). A first letter moves the focus, and a digit
 * chooses. The browser closes the popover and returns the focus.
 */
export function Menu({ anchorId, label, options, checked, onChoose, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => {
    const element = menu.current
    const anchor = document.getElementById(anchorId)
    if (!element || !anchor) return onClose()
    anchor.setAttribute('aria-expanded', 'true')
    if (!element.matches(':popover-open')) element.showPopover()
    const at = anchor.getBoundingClientRect()
    const { width, height } = element.getBoundingClientRect()
    const top = at.bottom + height > innerHeight ? at.top - height : at.bottom
    const { right } = (anchor.closest('.surface') ?? document.documentElement).getBoundingClientRect()
    const left = Math.max(8, Math.min(at.left, right - width))
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

  function choose(option: string) {
    menu.current?.hidePopover()
    onChoose(option)
  }

  function handleKey(event: KeyboardEvent) {
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])]
    const index = buttons.findIndex((button) => button.matches(':focus'))
    const digit = areCharactersOn() ? Number(event.key) : Number.NaN
    const [option] = options[digit - 1] ?? []
    const step = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key]
    const isNamed = (button: Element) => button.textContent?.toLowerCase().startsWith(event.key.toLowerCase())
    const named = buttons.slice(index + 1).find(isNamed) ?? buttons.find(isNamed)
    if (event.key === 'Tab') return menu.current?.hidePopover()
    if (option !== undefined) choose(option)
    else if (step !== undefined) buttons.at(step % buttons.length)?.focus()
    else if (named && event.key.length === 1) named.focus()
    else return
    event.preventDefault()
  }

  return (
    <div
      ref={menu}
      className="choice-menu"
      popover="auto"
      role="menu"
      aria-label={label}
      onKeyDown={handleKey}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
    >
      {options.map(([option, content], index) => (
        <button
          key={option}
          type="button"
          {...(checked === undefined
            ? { role: 'menuitem' }
            : { role: 'menuitemradio', 'aria-checked': option === checked })}
          tabIndex={-1}
          onClick={() => choose(option)}
        >
          {content}
          {option === checked && <IconCheck />}
          {areCharactersOn() && <kbd aria-hidden>{index + 1}</kbd>}
        </button>
      ))}
    </div>
  )
}
