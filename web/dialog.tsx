import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface DialogProps {
  isOpen: boolean
  title: string
  onClose: () => void
  /** Whether it holds what would be lost with it, so that a click beside it is not to close it. */
  holdsEntries?: boolean
  children: ReactNode
}

/** Mantine's `Modal`, but for its header element, which would be a second banner of the page. */
export function Dialog({ isOpen, title, onClose, holdsEntries = false, children }: DialogProps) {
  return (
    // Locking would write a style element, which the page's policy forbids.
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
