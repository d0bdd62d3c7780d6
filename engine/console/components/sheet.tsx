import './sheet.css'
import { useFocusTrap, useMergedRef, useWindowEvent } from '@mantine/hooks'
import { type ReactNode, useId, useRef } from 'react'
import { createPortal } from 'react-dom'
import { useCloseOnBack } from '../browser-history.ts'
import { CloseButton } from './buttons.tsx'
import { topDialog, useFocusReturn } from './focus.ts'

interface SheetProps {
  title: string
  translate?: 'no'
  /** Buttons beside the title. */
  actions?: ReactNode
  onClose: () => void
  size?: 'sm' | 'md' | 'lg' | 'xl'
  /** Whether the sheet contains form entries. A click beside it then does not close it. */
  holdsEntries?: boolean
  /** Whether it is a dialog in the middle that is as tall as its content, for a short one. */
  isModal?: boolean
  /** Whether it becomes visible only after a moment, because it may disappear before. */
  isLate?: boolean
  /** Whether the URL says that the sheet is open. Going back then changes the URL, which closes it. */
  isInUrl?: boolean
  children: ReactNode
}

/** A modal panel at the right side, as wide as the screen on a phone. The sheet that opened last is on top. */
export function Sheet({ title, actions, onClose, size = 'md', children, ...props }: SheetProps) {
  const { translate, holdsEntries, isModal, isLate, isInUrl } = props
  const dialog = useRef<HTMLDivElement>(null)
  const ref = useMergedRef(dialog, useFocusTrap())
  const id = useId()
  useFocusReturn()
  useCloseOnBack(isInUrl ? undefined : onClose)
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || dialog.current !== topDialog()) return
    // This dialog is gone before the event reaches the listener of the one below it.
    event.preventDefault()
    onClose()
  })
  // Until then it is hidden, and takes no focus.
  const handleLate = () => dialog.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
  return createPortal(
    <div
      className="sheet-layer"
      data-modal={isModal || undefined}
      data-late={isLate || undefined}
      onAnimationEnd={({ target, currentTarget }) => target === currentTarget && handleLate()}
    >
      {/* The button and the Escape key close it for everybody. */}
      <div className="sheet-overlay" onClick={holdsEntries ? undefined : onClose} aria-hidden />
      <div
        ref={ref}
        className="sheet"
        data-size={size}
        role="dialog"
        aria-modal="true"
        aria-labelledby={id}
        tabIndex={-1}
      >
        <div className="sheet-head">
          <h2 id={id} dir="auto" translate={translate} title={title} aria-live="polite">
            {title}
          </h2>
          {actions}
          <CloseButton label="Close" onClick={onClose} />
        </div>
        <div className="sheet-body">{children}</div>
      </div>
    </div>,
    document.body,
  )
}
