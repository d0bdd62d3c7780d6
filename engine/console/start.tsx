import './theme/tokens.css'
import './theme/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { followHistory } from './browser-history.ts'
import { followLeave } from './client.ts'
import { followHints } from './components/hint.ts'
import { markDeveloper, RequestsProvider } from './requests/open-requests.tsx'
import { keepDrafts } from './resource/drafts.ts'
import { sendRemovalsOnLeave } from './resource/edits.ts'
import { type ConsolePage, pages, setPages } from './resource/pages.ts'
import { restoreFilter } from './resource/view.ts'
import { type ConsoleProduct, setProduct } from './service.ts'
import { takeLinkedKey } from './session.ts'
import { followColorScheme } from './theme/color-scheme.ts'

/** Shows the console of a product, with a page for each resource. */
export function start(product: ConsoleProduct, shown: [ConsolePage, ...ConsolePage[]]): void {
  setProduct(product)
  setPages(shown)
  // Before anything else can read the address.
  const linkedKey = takeLinkedKey()
  followColorScheme()
  markDeveloper()
  restoreFilter(pages()[0].resource)
  followHistory()
  followHints()
  keepDrafts()
  followLeave()
  sendRemovalsOnLeave()
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no element with the id root.')
  createRoot(root).render(
    <StrictMode>
      <RequestsProvider>
        <App firstLinkedKey={linkedKey} />
      </RequestsProvider>
    </StrictMode>,
  )
}
