import type { ReactNode } from 'react'

interface MessageProps {
  title: string
  text?: string
  role?: 'alert'
  /** Actions, such as a button. */
  children?: ReactNode
}

/** A message in place of a list or of details. */
export function Message({ title, text, role, children }: MessageProps) {
  return (
    <div className="message" role={role}>
      <h3>{title}</h3>
      {text && <p>{text}</p>}
      {children}
    </div>
  )
}
