import '@mantine/core/styles/ActionIcon.layer.css'
import { ActionIcon, Button, type ButtonProps } from '@mantine/core'
import type { MouseEvent, ReactNode } from 'react'
import type { Shortcut } from '../keyboard.ts'
import { hint } from './hint.ts'

interface IconButtonProps {
  label: string
  shortcut?: Shortcut
  isDisabled?: boolean
  size?: 'sm' | 'md'
  onClick: () => void
  /** The icon. */
  children: ReactNode
}

/** A button without text. It keeps the focus while it is disabled. */
export function IconButton({ label, shortcut, isDisabled = false, size = 'md', onClick, children }: IconButtonProps) {
  return (
    <ActionIcon
      size={size}
      aria-label={label}
      {...hint(label, shortcut)}
      {...disabledProps(isDisabled)}
      onClick={unlessDisabled(isDisabled, onClick)}
    >
      {children}
    </ActionIcon>
  )
}

interface SteadyButtonProps extends ButtonProps {
  isDisabled: boolean
  type?: 'submit' | 'button'
  onClick?: () => void
}

/** A button that keeps the focus while it is disabled. */
export function SteadyButton({ isDisabled, onClick, ...props }: SteadyButtonProps) {
  return <Button {...props} {...disabledProps(isDisabled)} onClick={unlessDisabled(isDisabled, onClick)} />
}

/** The attributes of a disabled button that keeps the focus. HTML's `disabled` would move the focus to the start of the page. */
function disabledProps(isDisabled: boolean) {
  return { 'aria-disabled': isDisabled, ...(isDisabled && { 'data-disabled': true }) }
}

function unlessDisabled(isDisabled: boolean, onClick?: () => void) {
  return (event: MouseEvent) => {
    if (isDisabled) event.preventDefault()
    else onClick?.()
  }
}
