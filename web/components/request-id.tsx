import { LogLink } from '../requests/log-link.tsx'
import { messages } from '../texts/messages.ts'
import { CopyButton } from './copy-button.tsx'

/** The id with which an operator finds a failed request in the log of the service, and a link to the log of this tab. */
export function RequestId({ id }: { id: string | undefined }) {
  const { problem } = messages
  return (
    <p className="request-id">
      {id !== undefined && (
        <>
          {problem.requestId} <code>{id}</code>
          <CopyButton label={problem.copyRequestId} value={id} />
        </>
      )}
      <LogLink requestId={id} />
    </p>
  )
}
