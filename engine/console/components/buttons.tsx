import './buttons.css'
import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { hint } from './hint.ts'
import { IconX } from './icons.tsx'
import type { Shortcut } from './keyboard.ts'

interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'filled' | 'danger' | 'default' | 'subtle' | 'gray'
  size?: 'md' | 'xs' | 'compact-sm' | 'compact-xs'
  /** The icon before the label. */
  icon?: ReactNode
  endIcon?: ReactNode
  /** It keeps the focus while it is disabled. HTML's `disabled` would move the focus to the start of the page. */
  isDisabled?: boolean | undefined
  /** All labels that the button can have. It is as wide as the widest one, so another label moves nothing. */
  labels?: string[]
}

export function Button({ icon, endIcon, labels, children, ...props }: ButtonProps) {
  const { variant = 'filled', size = 'md', isDisabled, className = '', onClick, ...others } = props
  return (
    <button
      type="button"
      className={`button ${className}`}
      data-variant={variant}
      data-size={size}
      aria-disabled={isDisabled}
      onClick={(event: MouseEvent<HTMLButtonElement>) => {
        if (isDisabled) event.preventDefault()
        else onClick?.(event)
      }}
      {...others}
    >
      {icon}
      {children !== undefined && (
        <span className="button-label" data-labels={labels?.join('\n')}>
          {children}
        </span>
      )}
      {endIcon}
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'endIcon' | 'labels' | 'variant'> {
  label: string
  shortcut?: Shortcut
  /** The icon. */
  children: ReactNode
}

/** A button without text. */
export function IconButton({ label, shortcut, children, ...props }: IconButtonProps) {
  return <Button variant="gray" icon={children} data-icon aria-label={label} {...hint(label, shortcut)} {...props} />
}

/** A button with a cross. */
export function CloseButton(props: Omit<IconButtonProps, 'children'>) {
  return (
    <IconButton {...props}>
      <IconX />
    </IconButton>
  )
}
