import '@mantine/core/styles/Paper.layer.css'
import '@mantine/core/styles/Overlay.layer.css'
import '@mantine/core/styles/ModalBase.layer.css'
import '@mantine/core/styles/Drawer.layer.css'
import '@mantine/core/styles/CloseButton.layer.css'
import './sheet.css'
import { Drawer, type MantineSize } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { type ReactNode, useRef } from 'react'
import { messages } from '../messages/index.ts'
import { useFocusReturn } from './focus.ts'

interface SheetProps {
  title: string
  onClose: () => void
  size?: MantineSize
  /** Whether the sheet contains form entries. A click beside it then does not close it. */
  holdsEntries?: boolean
  children: ReactNode
}

/** A modal panel at the right side, as wide as the screen on a phone. The sheet that opened last is on top. */
export function Sheet({ title, onClose, size = 'md', holdsEntries = false, children }: SheetProps) {
  const content = useRef<HTMLDivElement>(null)
  useFocusReturn()
  useCloseOnEscape(() => content.current, onClose)
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={size}
      // Mantine's version adds a style element, which the content security policy forbids.
      lockScroll={false}
      // Mantine's versions close every open sheet, and need a sheet that is mounted before it opens.
      closeOnEscape={false}
      returnFocus={false}
      closeOnClickOutside={!holdsEntries}
      transitionProps={{ duration: 0 }}
      classNames={{ content: 'sheet' }}
    >
      <Drawer.Overlay />
      <Drawer.Content ref={content}>
        {/* Assistive technology would treat Mantine's header element as a second banner. */}
        <div className="sheet-head">
          <Drawer.Title dir="auto">{title}</Drawer.Title>
          <Drawer.CloseButton aria-label={messages.page.close} />
        </div>
        {/* Without Drawer.Body, which would make everything in it the description of the dialog. */}
        <div className="sheet-body">{children}</div>
      </Drawer.Content>
    </Drawer.Root>
  )
}

/** Closes a dialog with the Escape key if no other one is above it. */
function useCloseOnEscape(getDialog: () => Element | null, onClose: () => void): void {
  useWindowEvent('keydown', (event) => {
    const isOnTop = getDialog() === [...document.querySelectorAll('[aria-modal="true"]')].at(-1)
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || !isOnTop) return
    // This dialog is gone before the event reaches the listener of the one below it.
    event.preventDefault()
    onClose()
  })
}
