import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface DialogProps {
  isOpen: boolean
  title: string
  onClose: () => void
  children: ReactNode
}

/** Mantine's `Modal`, but for its header element, which would be a second banner of the page. */
export function Dialog({ isOpen, title, onClose, children }: DialogProps) {
  return (
    // Locking would write a style element, which the page's policy forbids.
    <Modal.Root opened={isOpen} onClose={onClose} lockScroll={false} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content>
        <div className="dialog-head">
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
