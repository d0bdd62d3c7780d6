import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Batch } from '#client'
import { textOf } from '#service/fields'
import { useClient, wasNeverRead } from '../../client.ts'
import { addedAgain, editManyDrafts } from '../../resource/drafts.ts'
import { together } from '../../resource/edit-key.ts'
import { editOf, isResultOf, reverseOf, send } from '../../resource/edits.ts'
import type { EditManyDialog, EditsProgress } from '../../resource/navigation.ts'
import { useList, useResource } from '../../resource/page-context.ts'
import { invalidate } from '../../resource/queries.ts'
import { loadPart, maxLimit } from '../../resource/search.ts'
import { type Edit, type Found, type Item, type Procedures, type Resource, valuesOf } from '../../resource.ts'
import { retryWhileAway, sendInBatches } from '../../rows/batches.ts'
import { useJob } from '../use-job.tsx'

/** Sends edits of many items, and says what became of them. Continuing after a stop sends what has no result yet. */
export function useEditMany(dialog: EditManyDialog) {
  const { edits } = dialog
  const { resource, queries } = useResource()
  const { list } = useList()
  const client = useClient()
  const queryClient = useQueryClient()
  const [progress] = useState<EditsProgress>(
    () => dialog.progress ?? { outcomes: new Map(), sent: new Set(), added: { items: [], before: new Set() } },
  )
  const { outcomes, sent, added } = progress
  /** A later item with the same values as the one to add again: somebody else may have added it. The user decides. */
  const [twin, setTwin] = useState<Item>()
  const left = edits.filter(({ idempotencyKey }) => !outcomes.has(idempotencyKey))

  async function sendOne(edit: Edit, batch: Batch): Promise<void> {
    const { repeats, isAddition, idempotencyKey } = edit
    const isFirst = !sent.has(idempotencyKey)
    sent.add(idempotencyKey)
    try {
      if (repeats) await send(resource, client, repeats, batch)
      if (isAddition) await addAgain(edit, batch, isFirst)
      else await send(resource, client, edit, batch)
      outcomes.set(idempotencyKey, undefined)
    } catch (error) {
      if (isFirst && wasNeverRead(idempotencyKey)) sent.delete(idempotencyKey)
      throw error
    } finally {
      job.update()
    }
  }

  async function addAgain(edit: Edit, batch: Batch, isFirst: boolean): Promise<void> {
    const { seen, idempotencyKey } = edit
    // The response to a repetition may be that to the first attempt, which was lost.
    const onResponse = ({ headers }: Response) => {
      if (isFirst && headers.has('idempotency-replayed')) added.before.add(idempotencyKey)
    }
    const item = valuesOf(resource, ({ name }) => seen[name])
    const options = { context: { idempotencyKey, batch, onResponse } }
    const created = await resource.procedures(client).create.mutate(item, options)
    added.items.push(created)
    addedAgain.set(idempotencyKey, created.id)
  }

  const job = useJob(async (options) => {
    editManyDrafts.set(resource.many, { ...dialog, startsAtOnce: false, progress })
    const [first, ...others] = edits
    if (first?.isAddition && others.length === 0 && sent.size === 0 && !twin) {
      const { signal } = options
      const found = await retryWhileAway(options)(() => findTwin(resource, resource.procedures(client), first, signal))
      if (found) return setTwin(found)
    }
    try {
      await sendInBatches(left, {
        ...options,
        isOrdered: edits[0]?.isAddition ?? false,
        send: sendOne,
        onFailure: ({ idempotencyKey }, problem) => outcomes.set(idempotencyKey, problem),
        valuesOf: ({ seen, set = {} }) => [...Object.values(seen), ...Object.values(set)],
      })
    } finally {
      // A row that an earlier edit keeps in its place has the values of that edit.
      list.release()
      invalidate(queryClient, resource)
    }
  })

  const unconfirmed = left.filter(({ idempotencyKey }) => sent.has(idempotencyKey))
  const done = edits.filter(({ idempotencyKey: key }) => outcomes.has(key) && !outcomes.get(key))
  const failed = edits.flatMap((edit) => {
    const problem = outcomes.get(edit.idempotencyKey)
    return problem ? [{ edit, problem }] : []
  })
  const conflicts = failed.filter(({ problem }) => problem.kind === 'conflict').map(({ edit }) => edit)

  /** The edits of what somebody else has changed, with the items as they are now. */
  async function loadConflicts(): Promise<Edit[]> {
    const load = ({ seen, set, place }: Edit) =>
      queryClient.fetchQuery({ ...queries.item(seen.id, queryClient), staleTime: 0 }).then(
        (item) => [editOf(item, set, place)],
        // It was removed meanwhile.
        () => [],
      )
    return together((await Promise.all(conflicts.map(load))).flat())
  }

  return {
    ...job,
    isRunning: job.status === 'pending',
    hasStarted: job.status !== 'idle' || dialog.progress !== undefined,
    left,
    /** Those that have no result, and may have been stored. */
    unconfirmed,
    done,
    failed,
    conflicts,
    added,
    twin,
    /** The edits that restore the former values. Those without a result are sent before. */
    reversed: () =>
      together([...done.map(reverseOf), ...unconfirmed.map((edit) => ({ ...reverseOf(edit), repeats: edit }))]),
    loadConflicts,
  }
}

/** The first item after the one of an edit that has exactly the same values. */
async function findTwin(
  resource: Resource,
  procedures: Procedures,
  edit: Edit,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const { seen } = edit
  const search = textOf(seen[resource.title])
  let cursor: bigint | undefined = procedures.search && seen.id
  while (cursor !== undefined) {
    const found: Found = await loadPart(resource, procedures, { filter: {}, search, cursor }, maxLimit, { signal })
    const twin = found.items.find((item) => isResultOf(resource, edit, item))
    if (twin) return twin
    cursor = found.next
  }
  return undefined
}
