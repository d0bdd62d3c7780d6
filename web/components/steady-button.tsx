import { Button, type ButtonProps } from '@mantine/core'
import type { MouseEvent } from 'react'

interface SteadyButtonProps extends ButtonProps {
  isDisabled: boolean
  type?: 'submit' | 'button'
  onClick?: () => void
}

/** A button that keeps the focus while it is disabled. HTML's `disabled` would move the focus to the start of the page. */
export function SteadyButton({ isDisabled, onClick, ...props }: SteadyButtonProps) {
  function click(event: MouseEvent) {
    if (isDisabled) event.preventDefault()
    else onClick?.()
  }

  return <Button {...props} aria-disabled={isDisabled} {...(isDisabled && { 'data-disabled': true })} onClick={click} />
}
