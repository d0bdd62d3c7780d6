import './header.css'
import './account-menu.css'
import { useRef, useState } from 'react'
import { IconButton } from '../components/buttons.tsx'
import { IconCode, IconKeyboard, IconUser } from '../components/icons.tsx'
import { loadLater } from '../components/load-later.tsx'
import { capitalized } from '../formats.ts'
import { useOpenRequests } from '../requests/open-requests.tsx'
import { pages } from '../resource/pages.ts'
import { hrefOf, openHere, showList } from '../resource/view.ts'
import type { Resource } from '../resource.ts'
import { product, servicePath } from '../service.ts'
import type { SignOutScope } from '../session.ts'
import { ColorScheme } from './color-scheme.tsx'

const Account = loadLater(async () => (await import('./account.tsx')).Account)

interface HeaderProps {
  /** The resource whose page this is. */
  shown?: Resource
  onHelp?: () => void
  /** Without it, nobody is signed in, and the header does not link to the pages. */
  onSignOut?: (scope: SignOutScope) => void
}

/** The header of every page. What is for developers is in the account menu, or here before the sign-in. */
export function Header({ shown, onHelp, onSignOut }: HeaderProps) {
  const openRequests = useOpenRequests()
  const service = servicePath()
  const { name } = product()
  return (
    <header className="header">
      <a className="brand" href={`${service}/`} aria-label={name}>
        <img src={`${service}/favicon.svg`} alt="" />
        <span>{name}</span>
      </a>
      <nav aria-label="Main">
        {onSignOut &&
          pages().map(({ resource }) => (
            <a
              key={resource.many}
              href={hrefOf(resource, {})}
              aria-current={resource === shown ? 'page' : undefined}
              onClick={(event) => shown && openHere(event, () => showList(resource))}
            >
              {capitalized(resource.many)}
            </a>
          ))}
        {!onSignOut && <a href={`${service}/docs/`}>API reference</a>}
      </nav>
      <div className="header-actions">
        {!onSignOut && (
          <IconButton label="Requests" onClick={() => openRequests()}>
            <IconCode />
          </IconButton>
        )}
        {onHelp && (
          <IconButton className="header-help" label="Keyboard shortcuts" shortcut="help" onClick={onHelp}>
            <IconKeyboard />
          </IconButton>
        )}
        {onSignOut ? <AccountMenu onSignOut={onSignOut} /> : <ColorScheme />}
      </div>
    </header>
  )
}

const menuId = 'account-menu'

/** A button and what it opens: the account. */
function AccountMenu({ onSignOut }: { onSignOut: (scope: SignOutScope) => void }) {
  const label = 'Account'
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <IconButton label={label} aria-expanded={isOpen} popoverTarget={menuId}>
        <IconUser />
      </IconButton>
      {/* It takes the focus of a click on its text, so that keys stay in it. */}
      <div
        ref={menu}
        id={menuId}
        className="account"
        popover="auto"
        role="dialog"
        aria-label={label}
        tabIndex={-1}
        onBeforeToggle={({ newState }) => newState === 'open' && setIsOpen(true)}
        // After the focus has returned from what is in it.
        onToggle={({ newState }) => setIsOpen(newState === 'open')}
      >
        {isOpen && <Account onSignOut={onSignOut} onClose={() => menu.current?.hidePopover()} />}
      </div>
    </>
  )
}
