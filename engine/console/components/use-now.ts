import { useInterval } from '@mantine/hooks'
import { useState } from 'react'

/** The time in milliseconds, updated every second. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useInterval(() => setNow(Date.now()), 1_000, { autoInvoke: true })
  return now
}
