import './header.css'
import type { ReactNode } from 'react'
import { IconButton } from '../components/buttons.tsx'
import { IconCode, IconKeyboard } from '../components/icons.tsx'
import { useOpenRequests } from '../requests/open-requests.tsx'
import { servicePath } from '../service.ts'
import type { SignOutScope } from '../session.ts'
import { messages } from '../texts/messages.ts'
import { AccountMenu } from './account-menu.tsx'
import { ColorScheme } from './color-scheme.tsx'

interface HeaderProps {
  /** The name of the list. Without it, the header does not link to the list. */
  list?: string
  /** Whether the page is the API reference. */
  isReference?: boolean
  /** Before the other actions. */
  children?: ReactNode
  onHelp?: () => void
  onSignOut?: (scope: SignOutScope) => void
}

/** The header of every page, also of the API reference. */
export function Header({ list, isReference = false, children, onHelp, onSignOut }: HeaderProps) {
  const openRequests = useOpenRequests()
  const service = servicePath()
  // Scalar has a banner of its own on narrow pages.
  const Banner = isReference ? 'section' : 'header'
  return (
    <Banner className="header" aria-label={isReference ? messages.page.name : undefined}>
      <a className="brand" href={`${service}/`} aria-label={messages.page.name}>
        <img src={`${service}/favicon.svg`} alt="" width="24" height="24" />
        <span>{messages.page.name}</span>
      </a>
      <nav aria-label={messages.page.navigation}>
        {list && (
          <a href={`${service}/`} aria-current={isReference ? undefined : 'page'}>
            {list}
          </a>
        )}
        <a href={`${service}/docs/`} aria-current={isReference ? 'page' : undefined}>
          {messages.page.reference}
        </a>
      </nav>
      <div className="header-actions">
        {children}
        <span className="header-requests">
          <IconButton label={messages.requests.title} onClick={() => openRequests()}>
            <IconCode />
          </IconButton>
        </span>
        {onHelp && (
          <IconButton label={messages.keyboard.title} shortcut="help" onClick={onHelp}>
            <IconKeyboard />
          </IconButton>
        )}
        {onSignOut ? <AccountMenu onSignOut={onSignOut} /> : <ColorScheme />}
      </div>
    </Banner>
  )
}
