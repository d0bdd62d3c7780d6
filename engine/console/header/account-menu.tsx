import './account-menu.css'
import { useRef, useState } from 'react'
import { IconButton } from '../components/buttons.tsx'
import { IconUser } from '../components/icons.tsx'
import { loadLater } from '../components/load-later.tsx'
import type { SignOutScope } from '../session.ts'
import { messages } from '../texts/messages.ts'

const Account = loadLater(async () => (await import('./account.tsx')).Account)

const menuId = 'account-menu'

/** A button and what it opens: the account. */
export function AccountMenu({ onSignOut }: { onSignOut: (scope: SignOutScope) => void }) {
  const label = messages.page.account
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
