import { useSyncExternalStore } from 'react'

/** A request of this tab. It contains no API key. */
export interface LogEntry {
  id: number
  method: string
  url: string
  /** The called procedures, several for a batch. */
  procedures: string[]
  /** The text of a mutation. */
  body: string | undefined
  idempotencyKey: string | undefined
  /** Counts from 1. A repeated request is the next attempt if the one before it failed. */
  attempt: number
  startedAt: Date
  outcome: Outcome
}

export type Outcome =
  | { kind: 'pending' }
  | { kind: 'cancelled' | 'unanswered'; duration: number }
  | { kind: 'response'; duration: number; status: number; requestId: string | undefined; errorBody?: string }

/** The last entries are kept, in memory. */
const maxEntries = 200

let entries: readonly LogEntry[] = []
let lastId = 0
const listeners = new Set<() => void>()

function setEntries(changed: readonly LogEntry[]): void {
  entries = changed.slice(-maxEntries)
  for (const listener of listeners) listener()
}

export function useLogEntries(): readonly LogEntry[] {
  return useSyncExternalStore(subscribe, () => entries)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function newestEntry(): LogEntry | undefined {
  return entries.at(-1)
}

export function clearLog(): void {
  setEntries([])
}

/** The entry of a failure: that with the request id, or else the last request that failed. */
export function failedEntry(requestId: string | undefined): LogEntry | undefined {
  const found =
    requestId && entries.find(({ outcome }) => outcome.kind === 'response' && outcome.requestId === requestId)
  return found || entries.findLast(hasFailed)
}

export function hasFailed({ outcome }: LogEntry): boolean {
  return (
    outcome.kind === 'unanswered' || (outcome.kind === 'response' && (outcome.status >= 400 || outcome.status === 207))
  )
}

interface LogRow {
  key: string
  newest: LogEntry
  /** The ids of all its entries. */
  ids: number[]
}

/**
 * The entries, the newest first. Equal queries are one row at the place of the newest, unless they failed: the console
 * repeats the queries of what it shows, and would hide what the user did.
 */
export function rowsOf(logged: readonly LogEntry[]): LogRow[] {
  const rows = new Map<string, LogRow>()
  for (const entry of logged.toReversed()) {
    const key = entry.method === 'GET' && !hasFailed(entry) ? entry.url : String(entry.id)
    const row = rows.get(key)
    if (row) row.ids.push(entry.id)
    else rows.set(key, { key, newest: entry, ids: [entry.id] })
  }
  return [...rows.values()]
}

/** A `fetch` that adds each request to the log. */
export async function loggedFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const startedAt = new Date()
  const start = performance.now()
  const id = begin(String(input), init, startedAt)
  const elapsed = () => performance.now() - start
  try {
    const response = await fetch(input, init)
    const { status, headers } = response
    const requestId = headers.get('x-request-id') ?? undefined
    const outcome = { kind: 'response', duration: elapsed(), status, requestId } as const
    end(id, outcome)
    // The statuses of the calls of a batch differ.
    if (status >= 400 || status === 207) {
      response
        .clone()
        .text()
        .then(
          (errorBody) => end(id, { ...outcome, errorBody }),
          () => {},
        )
    }
    return response
  } catch (error) {
    end(id, { kind: isCancelled(error) ? 'cancelled' : 'unanswered', duration: elapsed() })
    throw error
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function begin(url: string, { method = 'GET', headers, body }: RequestInit, startedAt: Date): number {
  const idempotencyKey = new Headers(headers).get('idempotency-key') ?? undefined
  const before = entries.findLast((entry) => entry.url === url && entry.idempotencyKey === idempotencyKey)
  const id = ++lastId
  const entry: LogEntry = {
    id,
    method,
    url,
    procedures: new URL(url).pathname.split('/').slice(-1).join().split(','),
    body: typeof body === 'string' ? body : undefined,
    idempotencyKey,
    attempt: before && hasFailed(before) ? before.attempt + 1 : 1,
    startedAt,
    outcome: { kind: 'pending' },
  }
  setEntries([...entries, entry])
  return id
}

function end(id: number, outcome: Outcome): void {
  setEntries(entries.map((entry) => (entry.id === id ? { ...entry, outcome } : entry)))
}
