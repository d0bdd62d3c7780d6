import { CopyButton } from '../components/copy-button.tsx'
import { messages } from '../texts/messages.ts'
import { ShowRequest } from './open-requests.tsx'

/** The id with which an operator finds a failed request in the log of the service, and a button that shows the request. */
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
      <ShowRequest requestId={id} />
    </p>
  )
}
