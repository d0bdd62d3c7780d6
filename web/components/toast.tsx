import { Button, Notification } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Pet } from '../../client/index.ts'

interface ToastProps {
  /** The pet that was just added. */
  pet: Pet | undefined
  onOpen: (petId: bigint) => void
  onClose: () => void
}

/** Milliseconds. The notification stays longer while it is hovered or focused. */
const displayTime = 15_000

export function Toast({ pet, onOpen, onClose }: ToastProps) {
  const toast = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!pet) return
    const timer = setInterval(() => {
      if (!toast.current?.matches(':hover, :focus-within')) onClose()
    }, displayTime)
    return () => clearInterval(timer)
  }, [pet, onClose])

  return (
    <div className="toast" role="status" ref={toast}>
      {pet && (
        <Notification
          color="green"
          withBorder
          role="presentation"
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
