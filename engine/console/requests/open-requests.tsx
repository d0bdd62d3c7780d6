import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { loadLater } from '../components/load-later.tsx'
import { messages } from '../texts/messages.ts'

const Requests = loadLater(async () => (await import('./requests.tsx')).Requests)

interface Failure {
  requestId: string | undefined
}

type OpenRequests = (failure?: Failure) => void

const RequestsContext = createContext<OpenRequests>(() => {})

/** Lets every component below it open the drawer with the requests of the tab. */
export function RequestsProvider({ children }: { children: ReactNode }) {
  const [opened, setOpened] = useState<{ failure: Failure | undefined }>()
  const open = useCallback((failure?: Failure) => setOpened({ failure }), [])
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
    <Button variant="default" size="compact-xs" onClick={() => open(failure)}>
      {messages.requests.show}
    </Button>
  )
}
