import { useState } from 'react'

/**
 * Why a query failed, until it succeeds: also while it is repeated after that. A message that appears again would be announced
 * again.
 */
export function useLastFailure(query: { status: string; failureReason: Error | null }): Error | null {
  const { status, failureReason } = query
  const [last, setLast] = useState(failureReason)
  const failure = failureReason ?? (status === 'success' ? null : last)
  if (failure !== last) setLast(failure)
  return failure
}
