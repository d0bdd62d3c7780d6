import { useSyncExternalStore } from 'react'
import superjson from 'superjson'
import type { Call } from './curl.ts'

/** A call of a procedure by this tab. Calls of one batch are several entries. It contains no API key. */
export interface LogEntry extends Call {
  id: number
  /** Equal for equal calls. */
  content: string
  /** Whether the user asked for it. These entries come first, because the console repeats its queries all the time. */
  isAction: boolean
  startedAt: Date
  outcome: Outcome
  /** The input to show, if the console asks for more than the user sees. */
  shown?: unknown
}

interface Outcome {
  /** The status of the response, if there is one. */
  status: number | 'pending' | 'cancelled' | 'unanswered' | 'known'
  /** Milliseconds. */
  duration?: number
  requestId?: string | undefined
}

/** The last entries are kept, in memory. */
const maxEntries = 100

let entries: readonly LogEntry[] = []
let lastId = 0
const listeners = new Set<() => void>()

function setEntries(changed: readonly LogEntry[]): void {
  entries = changed.slice(0, maxEntries)
  for (const listener of listeners) listener()
}

/** What the user did comes first, and of that the newest. */
export function useLogEntries(): readonly LogEntry[] {
  return useSyncExternalStore(subscribe, () => entries)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function clearLog(): void {
  setEntries([])
}

/** Puts a query that the user asked for first. The console may know its result already. */
export function putFirst(procedure: string, input: unknown, shown = input): void {
  const call = entryOf({ procedure, input, idempotencyKey: undefined }, superjson.serialize(input))
  const former = repeatedBy(call)
  const entry: LogEntry = { ...(former ?? { ...call, outcome: { status: 'known' } }), isAction: true, shown }
  setEntries([entry, ...entries.filter((each) => each !== former)])
}

/** The entry that a call repeats, which stays where it is. A failure stays beside its repetition. */
function repeatedBy({ content }: LogEntry): LogEntry | undefined {
  return entries.find((entry) => entry.content === content && !hasFailed(entry))
}

export function hasFailed({ outcome: { status } }: LogEntry): boolean {
  return status === 'unanswered' || (typeof status === 'number' && status >= 400)
}

/** A `fetch` that adds each call to the log. */
export async function loggedFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const start = performance.now()
  const calls = callsOf(new URL(String(input)), init).map((call): LogEntry => {
    const former = repeatedBy(call)
    return former ? { ...former, startedAt: call.startedAt } : call
  })
  const repeated = new Map(calls.map((call) => [call.id, call]))
  const known = entries.map((entry) => repeated.get(entry.id) ?? entry)
  // A batch may contain a call twice.
  const isFirst = (call: LogEntry) => calls.find(({ content }) => content === call.content) === call
  const added = calls.filter((call) => isFirst(call) && !entries.some(({ id }) => id === call.id))
  const sorted = [...added, ...known]
  setEntries([...sorted.filter(({ isAction }) => isAction), ...sorted.filter(({ isAction }) => !isAction)])

  function end(outcomeOf: (call: number) => Outcome): void {
    const duration = performance.now() - start
    const outcomes = new Map(calls.map(({ id }, call) => [id, { ...outcomeOf(call), duration }]))
    setEntries(
      entries.map((entry) => {
        const outcome = outcomes.get(entry.id)
        return outcome ? { ...entry, outcome } : entry
      }),
    )
  }

  try {
    const response = await fetch(input, init)
    const requestId = response.headers.get('x-request-id') ?? undefined
    const statuses = response.status === 207 ? await statusesIn(response.clone()) : []
    end((call) => ({ status: statuses[call] ?? response.status, requestId }))
    return response
  } catch (error) {
    const isCancelled = error instanceof Error && error.name === 'AbortError'
    end(() => ({ status: isCancelled ? 'cancelled' : 'unanswered' }))
    throw error
  }
}

/** The idempotency keys of a request. A batch has a list of quoted ones. */
export function idempotencyKeysOf({ headers }: RequestInit): string[] {
  const keys = new Headers(headers).get('idempotency-key')?.split(', ') ?? []
  return keys.map((key) => key.replaceAll('"', ''))
}

function callsOf({ pathname, searchParams }: URL, init: RequestInit): LogEntry[] {
  const { body } = init
  const sent = JSON.parse(typeof body === 'string' ? body : (searchParams.get('input') ?? '{}'))
  const keys = idempotencyKeysOf(init)
  const procedures = pathname.slice(pathname.lastIndexOf('/') + 1).split(',')
  return procedures.map((procedure, call) => {
    const serialized = searchParams.has('batch') ? sent[call] : sent
    const input = serialized && superjson.deserialize(serialized)
    return { ...entryOf({ procedure, input, idempotencyKey: keys[call] }, serialized), isAction: body !== undefined }
  })
}

function entryOf(call: Call, serialized: unknown): LogEntry {
  const content = JSON.stringify([call.procedure, serialized, call.idempotencyKey])
  return { ...call, id: ++lastId, content, isAction: false, startedAt: new Date(), outcome: { status: 'pending' } }
}

/** The statuses of the calls of a batch, if they differ. Empty if a proxy sent the response. */
async function statusesIn(response: Response): Promise<number[]> {
  try {
    const results: { error?: { json: { data: { status: number } } } }[] = await response.json()
    return results.map(({ error }) => error?.json.data.status ?? 200)
  } catch {
    return []
  }
}
