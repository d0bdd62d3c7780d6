import './notice.css'
import { type ReactNode, useId } from 'react'

interface NoticeProps {
  title: string
  color: 'accent' | 'warning' | 'danger'
  children: ReactNode
}

/** A message in a form, which screen readers announce at once. */
export function Notice({ title, color, children }: NoticeProps) {
  const id = useId()
  return (
    <div className="notice" data-color={color} role="alert" aria-labelledby={id}>
      <p id={id} className="notice-title">
        {title}
      </p>
      <div>{children}</div>
    </div>
  )
}
