import { Button, Notification } from '@mantine/core'
import type { Pet } from '../client/index.ts'

interface ToastProps {
  /** The pet that was just added. */
  pet: Pet | undefined
  onOpen: (petId: bigint) => void
  onClose: () => void
}

export function Toast({ pet, onOpen, onClose }: ToastProps) {
  return (
    <div className="toast" role="status">
      {pet && (
        <Notification
          color="green"
          withBorder
          title={`${pet.name} was added`}
          onClose={onClose}
          closeButtonProps={{ 'aria-label': 'Close the message' }}
        >
          {`Its id is ${pet.id}. `}
          <Button variant="default" size="compact-xs" onClick={() => onOpen(pet.id)}>
            Show
          </Button>
        </Notification>
      )}
    </div>
  )
}
