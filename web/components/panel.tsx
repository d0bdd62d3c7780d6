import '@mantine/core/styles/CloseButton.layer.css'
import './panel.css'
import { CloseButton } from '@mantine/core'
import { useId, useMediaQuery } from '@mantine/hooks'
import { lazy, type ReactNode, useEffect, useRef } from 'react'
import { useShortcuts } from '../keyboard.ts'
import { messages } from '../messages/index.ts'
import { useFocusReturn } from './focus.ts'
import { hint } from './hint.ts'

// Most windows are wide enough for a panel beside the list.
const Sheet = lazy(() => import('./sheet.tsx').then((module) => ({ default: module.Sheet })))

interface PanelProps {
  title: string
  /** Buttons beside the title. */
  actions?: ReactNode
  /** Whether the panel contains form entries. A click beside it then does not close it. */
  holdsEntries?: boolean
  /** Whether arrow keys move between items. */
  'data-arrow-keys'?: boolean
  /** The element that gets the focus after the panel is closed. By default it is the one that had it before. */
  focusAfter?: () => HTMLElement | null | undefined
  onClose: () => void
  children: ReactNode
}

/** A panel beside the list, which stays usable. If the window is too narrow for both, it is a modal sheet. */
export function Panel({ focusAfter, ...props }: PanelProps) {
  const isBeside = useMediaQuery('(min-width: 64em)', false, { getInitialValueInEffect: false })
  useFocusReturn(focusAfter)
  return isBeside ? <SidePanel {...props} /> : <SheetPanel {...props} />
}

function SidePanel({ title, actions, onClose, children, 'data-arrow-keys': arrowKeys }: PanelProps) {
  const id = useId()
  const panel = useRef<HTMLElement>(null)
  useShortcuts({ close: onClose })
  useEffect(() => {
    const field = panel.current?.querySelector<HTMLElement>('[data-autofocus]')
    const target = field ?? panel.current
    target?.focus({ preventScroll: true })
  }, [])
  return (
    <aside className="panel" aria-labelledby={id} tabIndex={-1} data-arrow-keys={arrowKeys} ref={panel}>
      <div className="panel-head">
        <h2 id={id} dir="auto" aria-live="polite">
          {title}
        </h2>
        {actions}
        <CloseButton aria-label={messages.page.close} {...hint(messages.page.close, 'close')} onClick={onClose} />
      </div>
      {children}
    </aside>
  )
}

function SheetPanel({ actions, children, holdsEntries = false, 'data-arrow-keys': arrowKeys, ...props }: PanelProps) {
  return (
    <Sheet holdsEntries={holdsEntries} {...props}>
      {/* The focus is here and not on the first button, so that arrow keys work at once. */}
      <div data-arrow-keys={arrowKeys} {...(arrowKeys && { 'data-autofocus': true, tabIndex: -1 })}>
        {actions && <div className="panel-actions">{actions}</div>}
        {children}
      </div>
    </Sheet>
  )
}
