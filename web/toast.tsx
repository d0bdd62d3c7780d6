import { Button, Notification } from '@mantine/core'
import { useEffect } from 'react'
import type { Pet } from '../client/index.ts'

interface ToastProps {
  /** The pet that was just added. */
  pet: Pet | undefined
  onOpen: (petId: bigint) => void
  onClose: () => void
}

/** Long enough to be read aloud; what it says can be found in the list, too. Milliseconds. */
const shownFor = 15_000

export function Toast({ pet, onOpen, onClose }: ToastProps) {
  useEffect(() => {
    if (!pet) return
    const timer = setTimeout(onClose, shownFor)
    return () => clearTimeout(timer)
  }, [pet, onClose])

  return (
    <div className="toast" role="status">
      {pet && (
        <Notification
          color="green"
          withBorder
          title={
            <>
              <bdi>{pet.name}</bdi> was added
            </>
          }
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
