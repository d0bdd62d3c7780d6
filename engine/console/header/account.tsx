import './account.css'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../client.ts'
import { Button } from '../components/buttons.tsx'
import { focusAround } from '../components/focus.ts'
import { IconCode } from '../components/icons.tsx'
import { IconBook, IconLogout } from '../components/later-icons.tsx'
import { date, number, time } from '../formats.ts'
import { problemOf } from '../problem.ts'
import { useOpenRequests } from '../requests/open-requests.tsx'
import { sessionOf } from '../resource/access.ts'
import type { Noun } from '../resource.ts'
import { servicePath } from '../service.ts'
import type { SignOutScope } from '../session.ts'
import { ColorScheme } from './color-scheme.tsx'
import { NewKey } from './new-key.tsx'

/** The first stop of the Tab key after the title, where the focus starts. It moves the focus to the rows of the list, or to its title if there are none. */
export function SkipLink({ noun }: { noun: Noun }) {
  return (
    <Button className="skip-link" onClick={({ currentTarget }) => focusAround(currentTarget)}>
      {`Skip to the ${noun.many}`}
    </Button>
  )
}

/** The state of the API key, the color scheme, what is for developers, another key and the sign-out. */
export function Account({ onSignOut, onClose }: { onSignOut: (scope: SignOutScope) => void; onClose: () => void }) {
  const openRequests = useOpenRequests()
  function showRequests() {
    // The account would be above the drawer, and it returns the focus.
    onClose()
    openRequests()
  }
  return (
    <>
      <KeyState />
      <div className="account-actions">
        <ColorScheme withText />
        <Button variant="gray" icon={<IconCode />} onClick={showRequests}>
          Requests
        </Button>
        <a className="button" data-variant="gray" href={`${servicePath()}/docs/`}>
          <IconBook />
          <span className="button-label">API reference</span>
        </a>
        <NewKey />
        <Button variant="gray" icon={<IconLogout />} onClick={() => onSignOut('tab')}>
          Sign out
        </Button>
        <Button variant="gray" icon={<IconLogout />} onClick={() => onSignOut('all-tabs')}>
          Sign out in all tabs
        </Button>
      </div>
    </>
  )
}

const accesses = { read: 'This key may only read', write: 'Reads and changes' }

/** Loads the state each time it is opened, and meanwhile shows the former one. */
function KeyState() {
  const { data, dataUpdatedAt, failureReason } = useQuery(sessionOf(useClient()))
  const limit = data?.rateLimit
  // From when the browser received it: its clock may differ from that of the service.
  const callsLeft = limit
    ? `${number(limit.remaining)} of ${number(limit.calls)} until ${time(new Date(dataUpdatedAt + limit.resetsIn * 1_000))}`
    : 'Unlimited'
  return (
    <>
      <dl>
        <dt>API key</dt>
        <dd dir="auto" translate="no">
          {data?.keyName ?? '…'}
        </dd>
        <dt>Access</dt>
        <dd>{data ? accesses[data.access] : '…'}</dd>
        <dt>Expires</dt>
        <dd>{data ? (data.expiresAt ? date(data.expiresAt) : 'Never') : '…'}</dd>
        <dt>Calls left</dt>
        <dd>{data ? callsLeft : '…'}</dd>
        <dt>Release</dt>
        <dd>{data?.release ?? '…'}</dd>
      </dl>
      {failureReason && <p role="alert">{problemOf(failureReason).message}</p>}
    </>
  )
}
