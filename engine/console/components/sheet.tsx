import '@mantine/core/styles/Paper.layer.css'
import '@mantine/core/styles/Overlay.layer.css'
import '@mantine/core/styles/ModalBase.layer.css'
import '@mantine/core/styles/Drawer.layer.css'
import '@mantine/core/styles/Modal.layer.css'
import '@mantine/core/styles/CloseButton.layer.css'
import './sheet.css'
import { Drawer, type MantineSize, Modal } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { type ReactNode, useRef } from 'react'
import { useCloseOnBack } from '../history.ts'
import { messages } from '../texts/messages.ts'
import { MantineContext } from '../theme/mantine.tsx'
import { topDialog, useFocusReturn } from './focus.ts'

interface SheetProps {
  title: string
  onClose: () => void
  size?: MantineSize
  /** Whether the sheet contains form entries. A click beside it then does not close it. */
  holdsEntries?: boolean
  /** Whether it is a dialog in the middle that is as tall as its content, for a short one. */
  isModal?: boolean
  /** Whether the URL says that the sheet is open. Going back then changes the URL, which closes it. */
  isInUrl?: boolean
  children: ReactNode
}

/** A modal panel at the right side, as wide as the screen on a phone. The sheet that opened last is on top. */
export function Sheet({
  title,
  onClose,
  size = 'md',
  holdsEntries = false,
  isModal = false,
  isInUrl = false,
  children,
}: SheetProps) {
  const { page } = messages
  const { Root, Overlay, Content, Title, CloseButton } = isModal ? Modal : Drawer
  const content = useRef<HTMLDivElement>(null)
  useFocusReturn()
  useCloseOnBack(isInUrl ? undefined : onClose)
  useCloseOnEscape(() => content.current, onClose)
  return (
    <MantineContext>
      <Root
        opened
        onClose={onClose}
        {...(isModal ? { centered: true } : { position: 'right' })}
        size={size}
        // Mantine's version adds a style element, which the content security policy forbids.
        lockScroll={false}
        // Mantine's versions close every open sheet, and need a sheet that is mounted before it opens.
        closeOnEscape={false}
        returnFocus={false}
        closeOnClickOutside={!holdsEntries}
        transitionProps={{ duration: 0 }}
        classNames={{ content: isModal ? 'sheet modal' : 'sheet' }}
      >
        <Overlay backgroundOpacity={0.4} />
        <Content ref={content}>
          {/* Assistive technology would treat Mantine's header element as a second banner. */}
          <div className="sheet-head">
            <Title dir="auto" title={title} aria-live="polite">
              {title}
            </Title>
            <CloseButton aria-label={page.close} />
          </div>
          {/* Without Drawer.Body, which would make everything in it the description of the dialog. */}
          <div className="sheet-body">{children}</div>
        </Content>
      </Root>
    </MantineContext>
  )
}

/** Closes a dialog with the Escape key if no other one is above it. */
function useCloseOnEscape(getDialog: () => Element | null, onClose: () => void): void {
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || getDialog() !== topDialog()) return
    // This dialog is gone before the event reaches the listener of the one below it.
    event.preventDefault()
    onClose()
  })
}
