import './panel.css'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { CloseButton } from './buttons.tsx'
import { focusPanel, useFocusReturn } from './focus.ts'
import { useShortcuts } from './keyboard.ts'
import { PanelSheet } from './load-later.tsx'

interface PanelProps {
  title: string
  /** `no` for a name, which the translation of a browser must not change. */
  translate?: 'no'
  /** Buttons beside the title. */
  actions?: ReactNode
  /** Whether the panel contains form entries. A click beside it then does not close it. */
  holdsEntries?: boolean
  /** Whether arrow keys move between items. */
  'data-arrow-keys'?: boolean
  /** Whether a field in it gets the focus. */
  startsWithField?: boolean
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

function SidePanel({ actions, onClose, ...props }: PanelProps) {
  useShortcuts({ close: onClose })
  const wasShown = useRef(false)
  useEffect(() => {
    // When it appears again, the element that had the focus gets it back.
    if (!wasShown.current) focusPanel()
    wasShown.current = true
  }, [])
  return (
    <PanelFrame
      {...props}
      tabIndex={-1}
      actions={
        <>
          {actions}
          <CloseButton label="Close" shortcut="close" onClick={onClose} />
        </>
      }
    />
  )
}

interface PanelFrameProps extends Pick<PanelProps, 'title' | 'translate' | 'actions' | 'data-arrow-keys' | 'children'> {
  tabIndex?: number
}

/** What is beside the list, with its title. */
export function PanelFrame({ title, translate, actions, children, tabIndex, ...props }: PanelFrameProps) {
  const id = useId()
  return (
    <aside className="panel" aria-labelledby={id} tabIndex={tabIndex} data-arrow-keys={props['data-arrow-keys']}>
      <div className="panel-head">
        <h2 id={id} dir="auto" translate={translate} title={title} aria-live="polite">
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </aside>
  )
}

function SheetPanel({ children, startsWithField, ...others }: PanelProps) {
  const { 'data-arrow-keys': arrowKeys, ...props } = others
  return (
    <PanelSheet isInUrl {...props}>
      {/* The focus is here and not on the first button, so that arrow keys work at once. */}
      <div
        data-arrow-keys={arrowKeys}
        data-autofocus={(arrowKeys && !startsWithField) || undefined}
        tabIndex={arrowKeys ? -1 : undefined}
      >
        {children}
      </div>
    </PanelSheet>
  )
}
