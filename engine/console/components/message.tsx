import './message.css'
import type { ComponentProps, ReactNode } from 'react'

interface MessageProps extends Pick<ComponentProps<'div'>, 'ref' | 'role'> {
  icon: ReactNode
  title: string
  /** The level of the title. */
  heading?: 'h1' | 'h2' | 'h3'
  text?: ReactNode
  children?: ReactNode
}

/** A message in place of a list or of an item. */
export function Message({ icon, title, heading: Heading = 'h2', text, role, children, ref }: MessageProps) {
  return (
    <div ref={ref} className="message">
      {icon}
      <div role={role}>
        <Heading>{title}</Heading>
        {text && <p className="message-text">{text}</p>}
      </div>
      {children}
    </div>
  )
}
