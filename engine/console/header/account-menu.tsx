import './account-menu.css'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useClient } from '../client.ts'
import { Button, IconButton } from '../components/buttons.tsx'
import { IconCode, IconLogout, IconPlus, IconUser } from '../components/icons.tsx'
import { problemOf } from '../problem.ts'
import { useOpenRequests } from '../requests/open-requests.tsx'
import type { SignOutScope } from '../session.ts'
import { sessionOf } from '../sign-in/access.ts'
import { NewKeyCommand } from '../sign-in/new-key-command.tsx'
import { messages } from '../texts/messages.ts'
import { ColorScheme } from './color-scheme.tsx'

const menuId = 'account-menu'

/** A button and what it opens: the state of the API key, the color scheme, the requests, another key and the sign-out. */
export function AccountMenu({ onSignOut }: { onSignOut: (scope: SignOutScope) => void }) {
  const { account, page, requests } = messages
  const openRequests = useOpenRequests()
  const menu = useRef<HTMLDivElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <IconButton label={account.open} aria-expanded={isOpen} popoverTarget={menuId}>
        <IconUser />
      </IconButton>
      {/* It takes the focus of a click on its text, so that keys stay in it. */}
      <div
        ref={menu}
        id={menuId}
        className="account"
        popover="auto"
        role="dialog"
        aria-label={account.open}
        tabIndex={-1}
        onBeforeToggle={({ newState }) => setIsOpen(newState === 'open')}
      >
        {isOpen && <KeyState />}
        <div className="account-actions">
          <ColorScheme withText />
          <Button
            variant="gray"
            icon={<IconCode />}
            onClick={() => {
              // It would be above the drawer, and it returns the focus.
              menu.current?.hidePopover()
              openRequests()
            }}
          >
            {requests.title}
          </Button>
          {isOpen && <NewKey />}
          <Button variant="gray" icon={<IconLogout />} onClick={() => onSignOut('tab')}>
            {page.signOut}
          </Button>
          <Button variant="gray" icon={<IconLogout />} onClick={() => onSignOut('all-tabs')}>
            {page.signOutEverywhere}
          </Button>
        </div>
      </div>
    </>
  )
}

function NewKey() {
  const { account } = messages
  const [isShown, setIsShown] = useState(false)
  return (
    <>
      <Button variant="gray" icon={<IconPlus />} aria-expanded={isShown} onClick={() => setIsShown(!isShown)}>
        {account.newKey}
      </Button>
      {isShown && <NewKeyCommand label={account.newKeyText} />}
    </>
  )
}

/** Loads the state each time it is opened, and meanwhile shows the former one. */
function KeyState() {
  const { data, dataUpdatedAt, failureReason } = useQuery(sessionOf(useClient()))
  const texts = messages.account
  const limit = data?.rateLimit
  // From when the browser received it: its clock may differ from that of the service.
  const callsLeft = limit
    ? texts.callsLeft(limit.remaining, limit.calls, new Date(dataUpdatedAt + limit.resetsIn * 1_000))
    : texts.unlimited
  return (
    <>
      <dl>
        <dt>{texts.key}</dt>
        <dd dir="auto">{data?.keyName ?? '…'}</dd>
        <dt>{texts.access}</dt>
        <dd>{data ? texts.accesses[data.access] : '…'}</dd>
        <dt>{texts.expires}</dt>
        <dd>{data ? texts.expiry(data.expiresAt) : '…'}</dd>
        <dt>{texts.calls}</dt>
        <dd>{data ? callsLeft : '…'}</dd>
        <dt>{texts.release}</dt>
        <dd>{data?.release ?? '…'}</dd>
      </dl>
      {failureReason && <p role="alert">{problemOf(failureReason).message}</p>}
    </>
  )
}
