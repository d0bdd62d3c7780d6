import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface DialogProps {
  isOpen: boolean
  title: string
  onClose: () => void
  /** Whether the dialog contains form entries. A click beside it then does not close it. */
  holdsEntries?: boolean
  children: ReactNode
}

/** Mantine's `Modal` without its header element, which assistive technology would treat as a second banner. */
export function Dialog({ isOpen, title, onClose, holdsEntries = false, children }: DialogProps) {
  return (
    // Locking the scroll adds a style element, which the content security policy forbids.
    <Modal.Root
      opened={isOpen}
      onClose={onClose}
      lockScroll={false}
      transitionProps={{ duration: 0 }}
      closeOnClickOutside={!holdsEntries}
    >
      <Modal.Overlay />
      <Modal.Content>
        <div className="dialog-head">
          <Modal.Title dir="auto">{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
