import type { ReactNode } from 'react'

interface MessageProps {
  title: string
  text?: string
  /** What can be done about it. */
  children?: ReactNode
}

/** Stands where there is nothing else to show. */
export function Message({ title, text, children }: MessageProps) {
  return (
    <div className="message">
      <h3>{title}</h3>
      {text && <p>{text}</p>}
      {children}
    </div>
  )
}
