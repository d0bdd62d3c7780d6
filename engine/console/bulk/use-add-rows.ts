import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useClient } from '../client.ts'
import { importDrafts } from '../resource/drafts.ts'
import { invalidate } from '../resource/queries.ts'
import type { Edit, Resource } from '../resource.ts'
import { addRows, keyAfter, keysOf, type Outcome } from '../rows/add-rows.ts'
import { addSent, isAdded, isFinished, matchSent, type Sent, type SentRows } from '../rows/progress.ts'
import { isValid, type Row, type ValidRow } from '../rows/table.ts'
import { useJob } from './use-job.tsx'

/** The rows to send, and which ones they are: meanwhile others may have got an outcome. */
interface Start {
  part: 'missing' | 'existing' | 'doubtful'
  next: ValidRow[]
}

/**
 * Adds the valid rows when it is started, except those that were added before. A further start adds those that have no
 * outcome yet: after a stop, or after a correction.
 *
 * @param pasted the rows before any correction
 * @param sent what was sent before. Further rows and outcomes are added to it, also after the component disappeared.
 */
export function useAddRows(resource: Resource, pasted: Row[], rows: ValidRow[], sent: SentRows) {
  const procedures = resource.procedures(useClient())
  const queryClient = useQueryClient()
  /** What the current run has sent, by the numbers of the rows. Matching all rows takes too long for each update. */
  const running = useRef<Map<number, Sent>>(undefined)
  /** The numbers of the rows whose items the user wants to see. */
  const [viewed, setViewed] = useState<ReadonlySet<number>>(new Set())

  // The outcomes are in `sent`, which is no state.
  const { start, stop, status, pause, update } = useJob(async (options, { part, next }: Start) => {
    const digestKeyOf = keysOf(resource, pasted.filter(isValid))
    const entries = new Map(matched)
    const isCorrection = next.every(({ isCorrected }) => isCorrected)
    setViewed(new Set((part !== 'missing' || isCorrection ? next : rows).map(({ number }) => number)))
    if (part === 'existing') await renewKeys(next.flatMap(({ number }) => entries.get(number) ?? []))
    for (const { number } of next) {
      const entry = entries.get(number)
      if (entry?.outcome?.kind === 'failed' || part === 'doubtful') Object.assign(entry ?? {}, { outcome: undefined })
    }
    running.current = entries
    update()

    async function keyOf(row: ValidRow): Promise<string> {
      const entry = entries.get(row.number) ?? { idempotencyKey: await digestKeyOf(row), outcome: undefined }
      if (!entries.has(row.number)) addSent(resource, row, sent, entry)
      entries.set(row.number, entry)
      if (entry.outcome?.kind === 'unconfirmed') entry.isRepeated = true
      entry.outcome = { kind: 'unconfirmed' }
      return entry.idempotencyKey
    }

    function onOutcome(number: number, outcome: Outcome): void {
      const entry = entries.get(number)
      // The response to a request before a stop can come after that to its repetition.
      if (entry && !isAdded(entry.outcome)) entry.outcome = outcome
      if (!running.current) update()
    }

    function onRefused(number: number): void {
      const entry = entries.get(number)
      if (entry && !entry.isRepeated) entry.outcome = undefined
    }

    try {
      await addRows(procedures, next, { ...options, keyOf, onOutcome, onRefused })
    } finally {
      running.current = undefined
      invalidate(queryClient, resource)
    }
  })

  const isIdle = status === 'idle'
  const matched = running.current ?? matchSent(resource, rows, sent)
  const outcomes = new Map<number, Outcome>()
  for (const [number, { outcome }] of matched) {
    // A new run sends the rows again that the service rejected.
    if (outcome && !(isIdle && outcome.kind === 'failed')) outcomes.set(number, outcome)
  }
  /** The rows that an earlier import has added. Their items may be gone. */
  const existing = rows.filter(({ number }) => {
    const entry = matched.get(number)
    return !isIdle && entry?.outcome?.kind === 'existed' && !entry.isRepeated
  })
  /** The rows that may have been added with another API key. */
  const doubtful = rows.filter(({ number }) => matched.get(number)?.outcome?.kind === 'doubtful')
  const missing = rows.filter(({ number }) => !isFinished(outcomes.get(number)))

  const ids = [...outcomes].flatMap(([number, outcome]) => ('id' in outcome && viewed.has(number) ? [outcome.id] : []))
  const firstId = ids.length > 0 ? ids.reduce((first, id) => (id < first ? id : first)) : undefined

  const end = missing.length === 0 ? 'finished' : 'stopped'
  const state = ({ idle: 'ready', pending: 'adding', success: end, error: end } as const)[status]
  const parts = { missing, existing, doubtful }
  const startPart = (part: keyof typeof parts) => () => start({ part, next: parts[part] })
  const add = { start: startPart('missing'), addAgain: startPart('existing'), addDoubtful: startPart('doubtful'), stop }
  return { state, outcomes, ...parts, firstId, pause, ...add }
}

/** All at once: a reload in the middle leaves no row that was sent with its new key, but has the former one. */
async function renewKeys(entries: Sent[]): Promise<void> {
  const renewed = await Promise.all(
    entries.map(async (entry) => {
      const { idempotencyKey, outcome } = entry
      return { entry, key: outcome && 'id' in outcome ? await keyAfter(idempotencyKey, outcome.id) : idempotencyKey }
    }),
  )
  for (const { entry, key } of renewed) Object.assign(entry, { idempotencyKey: key, outcome: undefined })
}

/** After the undo of an import: lets the rows whose items were removed be added again. */
export function letAddAgain({ many }: Resource, removed: Edit[]): void {
  const { sent, progress } = importDrafts.get(many) ?? {}
  const ids = new Set(removed.map(({ seen }) => seen.id))
  const rows = [...(sent?.values() ?? [])].flat()
  const entries = rows.filter(({ outcome }) => outcome && 'id' in outcome && ids.has(outcome.id))
  if (progress) {
    progress.added -= entries.length
    progress.waiting += entries.length
  }
  void renewKeys(entries)
}

export type Run = ReturnType<typeof useAddRows>
