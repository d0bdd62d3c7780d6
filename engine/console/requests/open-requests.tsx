import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { loadLater } from '../components/load-later.tsx'
import { storage } from '../storage.ts'

const Requests = loadLater(async () => (await import('./requests.tsx')).Requests)

/** The name of an entry in the local storage, which exists if somebody has opened the requests. */
const developerKey = 'developer'

/** Lets the style sheet show what only developers need, if the requests were opened before in this browser. */
export function markDeveloper(isOne = storage('localStorage').get(developerKey) !== undefined): void {
  document.documentElement.toggleAttribute('data-developer', isOne)
}

interface Failure {
  requestId: string | undefined
}

type OpenRequests = (failure?: Failure) => void

const RequestsContext = createContext<OpenRequests>(() => {})

/** Lets every component below it open the drawer with the requests of the tab. */
export function RequestsProvider({ children }: { children: ReactNode }) {
  const [opened, setOpened] = useState<{ failure: Failure | undefined }>()
  const open = useCallback((failure?: Failure) => {
    storage('localStorage').set(developerKey, 'yes')
    markDeveloper(true)
    setOpened({ failure })
  }, [])
  return (
    <RequestsContext value={open}>
      {children}
      {opened && <Requests {...opened} onClose={() => setOpened(undefined)} />}
    </RequestsContext>
  )
}

export function useOpenRequests(): OpenRequests {
  return useContext(RequestsContext)
}

/** Opens the drawer at the request of a failure. */
export function ShowRequest(failure: Failure) {
  const open = useOpenRequests()
  return (
    <Button className="show-request" variant="default" size="compact-xs" onClick={() => open(failure)}>
      Technical details
    </Button>
  )
}
