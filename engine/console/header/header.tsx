import './header.css'
import { IconButton } from '../components/buttons.tsx'
import { IconCode, IconKeyboard } from '../components/icons.tsx'
import { useOpenRequests } from '../requests/open-requests.tsx'
import { pages } from '../resource/pages.ts'
import { hrefOf, openHere, showList } from '../resource/view.ts'
import type { Resource } from '../resource.ts'
import { product, servicePath } from '../service.ts'
import type { SignOutScope } from '../session.ts'
import { messages } from '../texts/messages.ts'
import { AccountMenu } from './account-menu.tsx'
import { ColorScheme } from './color-scheme.tsx'

interface HeaderProps {
  /** The resource whose page this is. Without it, the header does not link to the pages. */
  shown?: Resource
  onHelp?: () => void
  onSignOut?: (scope: SignOutScope) => void
}

/** The header of every page. */
export function Header({ shown, onHelp, onSignOut }: HeaderProps) {
  const openRequests = useOpenRequests()
  const service = servicePath()
  const { name } = product()
  return (
    <header className="header">
      <a className="brand" href={`${service}/`} aria-label={name}>
        <img src={`${service}/favicon.svg`} alt="" width="24" height="24" />
        <span>{name}</span>
      </a>
      <nav aria-label={messages.page.navigation}>
        {shown && pages().map(({ resource }) => <PageLink key={resource.many} resource={resource} shown={shown} />)}
        <a href={`${service}/docs/`}>{messages.page.reference}</a>
      </nav>
      <div className="header-actions">
        <IconButton className="header-requests" label={messages.requests.title} onClick={() => openRequests()}>
          <IconCode />
        </IconButton>
        {onHelp && (
          <IconButton className="header-help" label={messages.page.shortcuts} shortcut="help" onClick={onHelp}>
            <IconKeyboard />
          </IconButton>
        )}
        {onSignOut ? <AccountMenu onSignOut={onSignOut} /> : <ColorScheme />}
      </div>
    </header>
  )
}

function PageLink({ resource, shown }: { resource: Resource; shown: Resource }) {
  return (
    <a
      href={hrefOf(resource, {})}
      aria-current={resource === shown ? 'page' : undefined}
      onClick={(event) => openHere(event, () => showList(resource))}
    >
      {messages.page.list(resource)}
    </a>
  )
}
