import './theme/tokens.css'
import './theme/base.css'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { followHints } from './components/hint.ts'
import { followHistory } from './history.ts'
import { keepDrafts } from './resource/drafts.ts'
import { restoreFilter } from './resource/view.ts'
import type { Resource } from './resource.ts'
import { type ConsoleProduct, setProduct } from './service.ts'
import { takeLinkedKey } from './session.ts'
import { followColorScheme } from './theme/color-scheme.ts'

/** Shows the console of a resource. */
export function start(product: ConsoleProduct, resource: Resource, icon: ReactNode): void {
  setProduct(product)
  // Before anything else can read the address.
  const linkedKey = takeLinkedKey()
  followColorScheme()
  restoreFilter(resource)
  followHistory()
  followHints()
  keepDrafts()
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no element with the id root.')
  createRoot(root).render(
    <StrictMode>
      <App resource={resource} icon={icon} linkedKey={linkedKey} />
    </StrictMode>,
  )
}
