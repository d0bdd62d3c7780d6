import { createContext, type ReactNode, Suspense, useCallback, useContext, useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { loadLater } from '../components/load-later.tsx'
import { messages } from '../texts/messages.ts'

export const RequestLog = loadLater(async () => (await import('./request-log.tsx')).RequestLog)

interface OpenOptions {
  /** Shows the request of this failure. */
  failure?: { requestId: string | undefined }
}

type OpenLog = (options?: OpenOptions) => void

const LogContext = createContext<OpenLog | undefined>(undefined)

/** Lets every component below it open the request log. */
export function LogProvider({ apiKey, children }: { apiKey: string | null; children: ReactNode }) {
  const [opened, setOpened] = useState<OpenOptions>()
  const open = useCallback((options: OpenOptions = {}) => setOpened(options), [])
  return (
    <LogContext value={open}>
      {children}
      <Suspense>{opened && <RequestLog {...opened} apiKey={apiKey} onClose={() => setOpened(undefined)} />}</Suspense>
    </LogContext>
  )
}

/** Undefined on a page without a log. */
export function useOpenLog(): OpenLog | undefined {
  return useContext(LogContext)
}

/** Opens the log at the request of a failure. */
export function LogLink({ requestId }: { requestId?: string | undefined }) {
  const open = useOpenLog()
  const { log } = messages
  return (
    open && (
      <Button variant="default" size="compact-xs" onClick={() => open({ failure: { requestId } })}>
        {log.showRequest}
      </Button>
    )
  )
}
