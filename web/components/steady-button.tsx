import { Button, type ButtonProps } from '@mantine/core'
import { disabledProps, unlessDisabled } from './icon-button.tsx'

interface SteadyButtonProps extends ButtonProps {
  isDisabled: boolean
  type?: 'submit' | 'button'
  onClick?: () => void
}

/** A button that keeps the focus while it is disabled. */
export function SteadyButton({ isDisabled, onClick, ...props }: SteadyButtonProps) {
  return <Button {...props} {...disabledProps(isDisabled)} onClick={unlessDisabled(isDisabled, onClick)} />
}
