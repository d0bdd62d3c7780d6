import { messages } from '../messages/index.ts'
import { CopyButton } from './copy-button.tsx'

/** The id with which an operator finds a failed request in the log. */
export function RequestId({ id }: { id: string | undefined }) {
  if (id === undefined) return null
  return (
    <p className="request-id">
      {messages.problem.requestId} <code>{id}</code>
      <CopyButton label={messages.problem.copyRequestId} value={id} />
    </p>
  )
}
