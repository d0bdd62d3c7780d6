import type { ReactNode } from 'react'

interface MessageProps {
  title: string
  text?: string
  role?: 'alert'
  /** What can be done about it. */
  children?: ReactNode
}

/** Stands where there is nothing else to show. */
export function Message({ title, text, role, children }: MessageProps) {
  return (
    <div className="message" role={role}>
      <h3>{title}</h3>
      {text && <p>{text}</p>}
      {children}
    </div>
  )
}
