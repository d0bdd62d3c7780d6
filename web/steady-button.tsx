import { Button, type ButtonProps } from '@mantine/core'
import type { MouseEvent } from 'react'

interface SteadyButtonProps extends ButtonProps {
  isOff: boolean
  type?: 'submit' | 'button'
  onClick?: () => void
}

/** A button that keeps the focus while it is off: a disabled one would lose it, and whoever uses the keyboard the place. */
export function SteadyButton({ isOff, onClick, ...props }: SteadyButtonProps) {
  function click(event: MouseEvent) {
    if (isOff) event.preventDefault()
    else onClick?.()
  }

  return <Button {...props} aria-disabled={isOff} {...(isOff && { 'data-disabled': true })} onClick={click} />
}
